import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import type { Delivery, ListedDelivery, PendingDelivery } from '../judge/delivery.ts';
import type { RoundRecord } from '../judge/round-record.ts';
import { withinLimit } from './delivery-limit.ts';
import type { DeliveryStore } from './delivery-store.ts';
import { createUnstoredRows, isPending, laneOf, type UnstoredRow } from './unstored-rows.ts';

type NotificationStore = Pick<
  DeliveryStore,
  'dueDeliveries' | 'nextDeliveryAt' | 'claim' | 'claimsRepeats' | 'storeOutcomes' | 'sentMessages' | 'notifiedAndOpen'
>;

/** The stored deliveries, and beside them in memory those that could not be stored so far. */
export interface UnstoredDeliveries extends NotificationStore {
  /** How many notifications of an incident's beginning there are, stored or not. */
  beginningsOf(incident: string): number;
  /**
   * Notifies of what could not be stored so far, by messages with the ids that they would have had. If it is stored later,
   * its deliveries are settled as they ended here.
   */
  add(record: Pick<RoundRecord, 'incidents' | 'deliveries'>): void;
  /** What became of the deliveries of an incident, stored or not. */
  deliveriesOf(incident: string): readonly ListedDelivery[];
}

export interface UnstoredOptions {
  readonly store: NotificationStore & Pick<DeliveryStore, 'listDeliveries'>;
  readonly log: Log;
}

const mostOfIncident = 1_000;

export function createUnstored({ store, log }: UnstoredOptions): UnstoredDeliveries {
  const rows = createUnstoredRows();
  /** Numbers of deliveries that were stored while a message about them may have been on its way. */
  const storedAs = new Map<number, number>();
  let unreadable = '';

  // Deliveries in memory are sent even if the file cannot be read.
  function readStored<Read>(read: () => Read, otherwise: Read): Read {
    if (rows.isEmpty) return read();
    try {
      const found = read();
      unreadable = '';
      return found;
    } catch (error) {
      if (unreadable !== messageOf(error)) log.error({ err: error }, 'cannot read stored deliveries');
      unreadable = messageOf(error);
      return otherwise;
    }
  }

  const storedOf = (incident: string) =>
    readStored(() => store.listDeliveries({ incident, limit: mostOfIncident }), []);

  // A delivery sent from memory has been stored: its outcome goes with it, and from now on it is the row.
  function adopt(stored: PendingDelivery): readonly PendingDelivery[] {
    const row = rows.find(stored.delivery);
    const incident = rows.incident(stored.incident.id) ?? stored.incident;
    if (row === undefined) return [{ ...stored, incident }];
    const { id } = stored.delivery;
    const { delivery, message, last } = row;
    if (last !== null) store.storeOutcomes([{ ...last, id }]);
    if (isPending(row)) {
      const noted = last?.state === 'pending' ? last.message : null;
      if (message !== null && message !== noted) noteLater(store.claim(message, [id]), log);
      storedAs.set(delivery.id, id);
    }
    rows.remove(row);
    return isPending(row) ? [{ ...stored, incident, delivery: { ...delivery, id }, message }] : [];
  }

  function rowsInMemory(): readonly PendingDelivery[] {
    return rows.pending().flatMap(({ delivery, message }) => {
      const incident = rows.incident(delivery.incidentId);
      const more = { ...beginningOf(delivery), ...rows.othersOf(delivery) };
      return incident === undefined ? [] : [{ delivery, incident, message, ...more }];
    });
  }

  function beginningOf(delivery: Delivery): Pick<PendingDelivery, 'root' | 'rootReference'> {
    const opened = rows.find({ ...delivery, kind: 'opened', number: 1 });
    if (opened !== undefined) {
      const reference = opened.last?.state === 'sent' ? opened.last.reference : undefined;
      return { root: opened.message, rootReference: reference ?? null };
    }
    const isBeginning = (one: Delivery) => one.kind === 'opened' && laneOf(one) === laneOf(delivery);
    const stored = storedOf(delivery.incidentId).find(isBeginning);
    return { root: stored?.message ?? null, rootReference: stored?.reference ?? null };
  }

  return {
    deliveriesOf(incident) {
      const unstored = rows.of(incident).map((row) => listedOf(row, rows.incident(incident)?.target ?? ''));
      const names = new Set(unstored.map(nameOf));
      return [...storedOf(incident).filter((one) => !names.has(nameOf(one))), ...unstored];
    },
    add: (record) => rows.add(record),
    beginningsOf(incident) {
      if (rows.incident(incident) !== undefined) return 1;
      const stored = store.listDeliveries({ incident, limit: mostOfIncident });
      return stored.filter(({ kind }) => kind === 'opened').length;
    },
    dueDeliveries(now, limit) {
      if (rows.isEmpty) return store.dueDeliveries(now, limit);
      const stored = readStored(() => store.dueDeliveries(Number.MAX_SAFE_INTEGER, limit), []);
      const all = [...stored.flatMap(adopt), ...rowsInMemory()];
      const due = new Set(all.flatMap(({ delivery }) => (delivery.nextAttemptAt <= now ? [laneOf(delivery)] : [])));
      const ofDue = all
        .filter(({ delivery }) => due.has(laneOf(delivery)))
        .toSorted(({ delivery: a }, { delivery: b }) => a.createdAt - b.createdAt || orderOf(a) - orderOf(b));
      return withinLimit(ofDue, limit, ({ delivery, message }) => ({ ...delivery, message }));
    },
    nextDeliveryAt(now) {
      const stored = readStored(() => store.nextDeliveryAt(now), null) ?? Number.POSITIVE_INFINITY;
      const waits = rows.pending().map(({ delivery }) => delivery.nextAttemptAt);
      const next = Math.min(stored, ...waits.filter((at) => at > now));
      return Number.isFinite(next) ? next : null;
    },
    claimsRepeats: store.claimsRepeats === true,
    claim(message, ids) {
      for (const id of ids) rows.claim(id, message);
      const stored = ids.filter((id) => rows.byId(id) === undefined).map((id) => storedAs.get(id) ?? id);
      return stored.length > 0 ? store.claim(message, stored) : undefined;
    },
    storeOutcomes(outcomes) {
      for (const outcome of outcomes) rows.storeOutcome(outcome);
      const stored = outcomes
        .filter(({ id }) => rows.byId(id) === undefined)
        .map((outcome) => ({ ...outcome, id: storedAs.get(outcome.id) ?? outcome.id }));
      if (stored.length > 0) store.storeOutcomes(stored);
    },
    sentMessages: (since) => store.sentMessages(since),
    notifiedAndOpen(channel) {
      const stored = readStored(() => store.notifiedAndOpen(channel), []).filter(
        ({ incident }) => (rows.incident(incident.id) ?? incident).endedAt === null,
      );
      return [...stored, ...rows.notifiedAndOpen(channel)];
    },
  };
}

const nameOf = ({ kind, number, channel, recipient }: Delivery) => JSON.stringify([kind, number, channel, recipient]);

function listedOf({ delivery, message, last }: UnstoredRow, target: string): ListedDelivery {
  const state = last?.state ?? 'pending';
  const settledAt = last === null || last.state === 'pending' ? null : last.at;
  const reference = last?.state === 'sent' ? (last.reference ?? null) : null;
  return { ...delivery, target, state, settledAt, message, reference };
}

// What is stored came before what is not.
function orderOf({ id }: Delivery): number {
  return id > 0 ? id : 2 ** 50 - id;
}

// Another hub may lead by now: it sends the message again, with the same id.
function noteLater(claimed: void | Promise<void>, log: Log): void {
  claimed?.catch((error: unknown) => log.warn({ err: error }, 'cannot record a message that was sent'));
}
