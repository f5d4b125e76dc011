import type { LateVote, RoundRecord, ShownVerdict } from '#monitor/judge/round-record.ts';
import { and, type BetterSQLite3Database, eq, sql } from './drizzle.ts';
import { createHeardWriter } from './heartbeats.ts';
import { createNames } from './names.ts';
import type { OpenDatabase } from './open.ts';
import { remindOthers, writeReminder } from './reminders.ts';
import {
  type DeliveryInput,
  type IncidentInput,
  incidentRow,
  type RuleStateInput,
  type OutcomeInput,
  stateText,
} from './rows.ts';
import { deliveries, incidents, ruleStates } from './schema.ts';
import { createVoteWriter, type VoteDependencies } from './votes.ts';

export interface Writer {
  /**
   * Writes a whole round. Where its very results are there already, only what follows from them is written; where others of its
   * name are, it gets the next name that is free, a millisecond later.
   */
  writeRound(round: RoundRecord): 'stored' | 'duplicate';
  /**
   * Writes a vote whose round is over, unless the round has one of this node that is more than a missing answer. `revised` if the
   * round has a verdict now that it did not have.
   */
  writeLate(late: LateVote): 'stored' | 'revised' | 'duplicate';
  /** The verdict that its round has with a late vote; undefined if that is not to change. */
  verdictWith(late: LateVote): ShownVerdict | null | undefined;
  /** Settles a delivery, unless it was settled before; a reminder that it asks for is written with it. */
  writeSettlement(settlement: OutcomeInput): void;
  /** Must be called after a rollback: names that were given a number in it have none any more. */
  forgetNames(): void;
}

/** Everything that writes, inside the transaction of its caller. */
export function createWriter(file: Pick<OpenDatabase, 'raw' | 'drizzle'>, parts: VoteDependencies): Writer {
  const database = file.drizzle;
  const names = createNames(database);
  const votes = createVoteWriter(file, names, parts);
  const upsertState = prepareState(database);
  const writeHeard = createHeardWriter(database);

  function writeState(state: RuleStateInput): void {
    upsertState.run({ targetId: names.target(state.target), rule: state.rule, state: stateText(state) });
  }

  function writeIncident(incident: IncidentInput): void {
    const row = incidentRow(incident, names.target(incident.target));
    database
      .insert(incidents)
      .values(row)
      .onConflictDoUpdate({
        target: incidents.id,
        set: { startedAt: row.startedAt, endedAt: row.endedAt ?? null, story: row.story },
      })
      .run();
  }

  function writeDelivery({ id: _id, ...delivery }: DeliveryInput): void {
    database
      .insert(deliveries)
      .values({ ...delivery, state: 'pending' })
      .onConflictDoNothing()
      .run();
  }

  return {
    writeRound(round) {
      const written = votes.writeRound(round);
      round.states.forEach(writeState);
      round.incidents.forEach(writeIncident);
      round.deliveries.forEach(writeDelivery);
      if (round.heard !== undefined) writeHeard(names.target(round.target), round.heard);
      return written;
    },
    writeLate: (late) => votes.writeLate(late),
    verdictWith: (late) => votes.verdictWith(late),
    writeSettlement(settlement) {
      const { changes } = database
        .update(deliveries)
        .set(changeOf(settlement))
        .where(and(eq(deliveries.id, settlement.id), eq(deliveries.state, 'pending')))
        .run();
      if (changes === 0) return;
      if (settlement.state === 'sent' && settlement.remindAt !== null)
        writeReminder(database, settlement.id, settlement.remindAt);
      const { tellOthersAt = null } = settlement.state === 'pending' ? settlement : {};
      if (tellOthersAt !== null) remindOthers(database, settlement.id, tellOthersAt);
    },
    forgetNames: () => names.forget(),
  };
}

function changeOf(settlement: OutcomeInput) {
  const attempts = sql`${deliveries.attempts} + 1`;
  switch (settlement.state) {
    case 'claimed':
      return { message: settlement.message };
    case 'sent':
      return {
        state: settlement.state,
        settledAt: settlement.at,
        message: settlement.message,
        reference: settlement.reference ?? null,
        attempts,
      };
    case 'merged':
      return { state: settlement.state, settledAt: settlement.at, message: settlement.message };
    case 'dead':
      return { state: settlement.state, settledAt: settlement.at, attempts, lastError: settlement.error };
    case 'pending':
      return {
        nextAttemptAt: settlement.nextAttemptAt,
        attempts,
        lastError: settlement.error,
        message: settlement.message,
      };
  }
}

function prepareState(database: BetterSQLite3Database) {
  const hole = sql.placeholder;
  return database
    .insert(ruleStates)
    .values({ targetId: hole('targetId'), rule: hole('rule'), state: hole('state') })
    .onConflictDoUpdate({ target: [ruleStates.targetId, ruleStates.rule], set: { state: sql`excluded.state` } })
    .prepare();
}
