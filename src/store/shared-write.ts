import { writeChanges } from './changes.ts';
import { applyDevice } from './devices.ts';
import { and, type BetterSQLite3Database, eq } from './drizzle.ts';
import { writePacked } from './evidence.ts';
import { writeExclusion } from './exclusions.ts';
import { writeMeasurements } from './measurements.ts';
import { deleteNote, writeNote } from './notes.ts';
import type { WriteResult } from './queue.ts';
import { deliveries, facts } from './schema.ts';
import type { DeliveryName, NamedOutcome, SharedWrite } from './shared-writes.ts';
import { applySubscription } from './subscriptions.ts';
import { writeSilence } from './silences.ts';
import type { Writer } from './write.ts';

/** Makes one write of the log, inside the transaction of its caller. */
export function createSharedWriter(
  database: BetterSQLite3Database,
  writer: Writer,
): (work: SharedWrite) => WriteResult {
  function writeOutcome({ of, outcome }: NamedOutcome): void {
    const row = database.select({ id: deliveries.id }).from(deliveries).where(isNamed(of)).get();
    if (row !== undefined) writer.writeOutcome({ ...outcome, id: row.id });
  }

  function retry(name: DeliveryName, at: number): void {
    const due = { state: 'pending', nextAttemptAt: at, attempts: 0, settledAt: null };
    database.update(deliveries).set(due).where(isNamed(name)).run();
  }

  return (work) => {
    switch (work.kind) {
      case 'round':
        return writer.writeRound(work.round);
      case 'late': {
        const { verdict, ...late } = work.late;
        return writer.writeLate(verdict === undefined ? late : { ...late, verdictOf: () => verdict });
      }
      case 'outcomes':
        for (const outcome of work.outcomes) writeOutcome(outcome);
        return 'settled';
      case 'retry':
        for (const name of work.deliveries) retry(name, work.at);
        return 'settled';
      case 'silence':
        writeSilence(database, work.silence);
        return 'settled';
      case 'note':
        writeNote(database, { ...withoutThread, ...work.note });
        writer.noteWritten();
        return 'settled';
      case 'note removed':
        deleteNote(database, work.id);
        return 'settled';
      case 'exclusion':
      case 'exclusion removed':
        writeExclusion(database, work);
        return 'settled';
      case 'device':
      case 'device removed':
        applyDevice(database, work);
        return 'settled';
      case 'subscription':
        applySubscription(database, work.write);
        return 'settled';
      case 'changes':
        writeChanges(database, work.changes);
        return 'settled';
      case 'measured':
        writeMeasurements(database, work.measured);
        return 'settled';
      case 'evidence':
        writePacked(database, work.evidence);
        return 'settled';
      case 'fact':
        writeFact(database, work.name, work.value);
        return 'settled';
    }
  };
}

// The log may have notes of an earlier version.
const withoutThread = { thread: null, stage: null, targets: [] };

export function writeFact(database: BetterSQLite3Database, name: string, value: string): void {
  database.insert(facts).values({ name, value }).onConflictDoUpdate({ target: facts.name, set: { value } }).run();
}

/** What every hub calls deliveries with these row numbers. */
export function deliveryNames(
  database: BetterSQLite3Database,
  ids: readonly number[],
): ReadonlyMap<number, DeliveryName> {
  const names = new Map<number, DeliveryName>();
  for (const id of new Set(ids)) {
    const row = database.select(nameColumns).from(deliveries).where(eq(deliveries.id, id)).get();
    if (row !== undefined) names.set(id, row);
  }
  return names;
}

const nameColumns = {
  incidentId: deliveries.incidentId,
  kind: deliveries.kind,
  number: deliveries.number,
  channel: deliveries.channel,
  recipient: deliveries.recipient,
};

function isNamed({ incidentId, kind, number, channel, recipient }: DeliveryName) {
  return and(
    eq(deliveries.incidentId, incidentId),
    eq(deliveries.kind, kind),
    eq(deliveries.number, number),
    eq(deliveries.channel, channel),
    eq(deliveries.recipient, recipient),
  );
}
