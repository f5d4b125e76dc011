import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import type { Delivery, DeliverySettlement, PendingDelivery } from '../judge/delivery.ts';
import type { Incident } from '../judge/incident.ts';
import type { RoundRecord } from '../judge/round-record.ts';
import type { DeliveryStore } from './delivery-store.ts';

type Told = Pick<
  DeliveryStore,
  'dueDeliveries' | 'nextDeliveryAt' | 'claim' | 'settle' | 'sentMessages' | 'toldAndOpen'
>;

/** The stored deliveries, and beside them in memory those that nobody could store so far. */
export interface UnstoredDeliveries extends Told {
  /**
   * Has people told of what could not be stored so far, by messages with the ids that they would have had. Where it is stored later,
   * its deliveries are settled as they ended here.
   */
  tell(record: Pick<RoundRecord, 'incidents' | 'deliveries'>): void;
}

interface Entry {
  /** As it is by now; its id is negative. */
  delivery: Delivery;
  /** The message that tells it or may have, or null. */
  message: string | null;
  /** How its last attempt ended, or null. */
  last: DeliverySettlement | null;
}

export interface UnstoredOptions {
  readonly store: Told & Pick<DeliveryStore, 'listDeliveries'>;
  readonly log: Log;
}

const mostOfIncident = 1_000;

export function createUnstored({ store, log }: UnstoredOptions): UnstoredDeliveries {
  const entries = new Map<string, Entry>();
  const byId = new Map<number, Entry>();
  const incidents = new Map<string, Incident>();
  /** Numbers of deliveries that were stored while a message about them may have been on its way. */
  const storedAs = new Map<number, number>();
  let lastId = 0;
  let unreadable = '';

  // What is in memory is told also where the file cannot even be read.
  function readStored<Read>(read: () => Read, otherwise: Read): Read {
    if (entries.size === 0) return read();
    try {
      const found = read();
      unreadable = '';
      return found;
    } catch (error) {
      if (unreadable !== messageOf(error)) log.error({ err: error }, 'the stored deliveries cannot be read');
      unreadable = messageOf(error);
      return otherwise;
    }
  }

  function add(delivery: Delivery): void {
    const key = keyOf(delivery);
    if (entries.has(key)) return;
    lastId -= 1;
    const entry = { delivery: { ...delivery, id: lastId }, message: null, last: null };
    entries.set(key, entry);
    byId.set(lastId, entry);
  }

  function note(entry: Entry, settlement: DeliverySettlement): void {
    const { delivery, last } = entry;
    if (settlement.state === 'pending') {
      const { nextAttemptAt, error: lastError } = settlement;
      const tellOthersAt = (last?.state === 'pending' ? last.tellOthersAt : null) ?? settlement.tellOthersAt ?? null;
      entry.delivery = { ...delivery, attempts: delivery.attempts + 1, nextAttemptAt, lastError };
      entry.last = { ...settlement, tellOthersAt };
      entry.message = settlement.message;
      return;
    }
    entry.last = settlement;
    if (settlement.state === 'dead') entry.delivery = { ...delivery, lastError: settlement.error };
    else entry.message = settlement.message;
    const isOpen = incidents.get(delivery.incidentId)?.endedAt === null;
    if (settlement.state === 'sent' && settlement.remindAt !== null && isOpen) remind(delivery, settlement.remindAt);
  }

  function remind(delivery: Delivery, at: number): void {
    const number = delivery.kind === 'reminder' ? delivery.number + 1 : 1;
    const times = { createdAt: at, nextAttemptAt: at, attempts: 0, lastError: null };
    add({ ...delivery, ...times, kind: 'reminder', number });
  }

  // A row that is told from memory has been stored: what became of it here goes with it, and from now on it is the row.
  function adopt(row: PendingDelivery): readonly PendingDelivery[] {
    const key = keyOf(row.delivery);
    const entry = entries.get(key);
    const incident = incidents.get(row.incident.id) ?? row.incident;
    if (entry === undefined) return [{ ...row, incident }];
    const { id } = row.delivery;
    const { delivery, message, last } = entry;
    if (last !== null) store.settle([{ ...last, id }]);
    if (isPending(entry)) {
      const claimed = last?.state === 'pending' ? last.message : null;
      if (message !== null && message !== claimed) store.claim(message, [id]);
      storedAs.set(delivery.id, id);
    }
    entries.delete(key);
    byId.delete(delivery.id);
    return isPending(entry) ? [{ ...row, incident, delivery: { ...delivery, id }, message }] : [];
  }

  function rowsInMemory(): readonly PendingDelivery[] {
    return [...entries.values()].filter(isPending).flatMap(({ delivery, message }) => {
      const incident = incidents.get(delivery.incidentId);
      return incident === undefined
        ? []
        : [{ delivery, incident, message, ...beginningOf(delivery), ...othersOf(delivery) }];
    });
  }

  function beginningOf(delivery: Delivery): Pick<PendingDelivery, 'root' | 'rootReference'> {
    const opened = entries.get(keyOf({ ...delivery, kind: 'opened', number: 1 }));
    if (opened !== undefined) return { root: opened.message, rootReference: referenceOf(opened) };
    const incident = delivery.incidentId;
    const stored = readStored(() => store.listDeliveries({ incident, limit: mostOfIncident }), []).find(
      (one) => one.kind === 'opened' && laneOf(one) === laneOf(delivery),
    );
    return { root: stored?.message ?? null, rootReference: stored?.reference ?? null };
  }

  function othersOf(delivery: Delivery): Pick<PendingDelivery, 'unreached' | 'isKnownToOthers'> {
    const others = [...entries.values()].filter(
      ({ delivery: one }) =>
        one.kind === 'opened' && one.incidentId === delivery.incidentId && laneOf(one) !== laneOf(delivery),
    );
    return {
      unreached: others.flatMap(({ delivery: { channel, recipient, lastError: reason }, last }) =>
        reason === null || last?.state === 'sent' ? [] : [{ channel, recipient, reason }],
      ),
      isKnownToOthers: others.some(({ last }) => last?.state === 'sent'),
    };
  }

  // What the database says of an incident is older than what is told of it from memory, but not any more once that is stored.
  function forgetStored(): void {
    const told = new Set([...entries.values()].map(({ delivery }) => delivery.incidentId));
    for (const id of incidents.keys()) if (!told.has(id)) incidents.delete(id);
  }

  return {
    tell({ incidents: changed, deliveries }) {
      deliveries.forEach(add);
      for (const incident of changed) incidents.set(incident.id, incident);
      forgetStored();
    },
    dueDeliveries(now, limit) {
      if (entries.size === 0) return store.dueDeliveries(now, limit);
      const stored = readStored(() => store.dueDeliveries(Number.MAX_SAFE_INTEGER, limit), []);
      const rows = [...stored.flatMap(adopt), ...rowsInMemory()];
      forgetStored();
      const due = new Set(rows.flatMap(({ delivery }) => (delivery.nextAttemptAt <= now ? [laneOf(delivery)] : [])));
      return rows
        .filter(({ delivery }) => due.has(laneOf(delivery)))
        .toSorted(({ delivery: a }, { delivery: b }) => a.createdAt - b.createdAt || orderOf(a) - orderOf(b))
        .slice(0, limit);
    },
    nextDeliveryAt(now) {
      const stored = readStored(() => store.nextDeliveryAt(now), null) ?? Number.POSITIVE_INFINITY;
      const waits = [...entries.values()].filter(isPending).map(({ delivery }) => delivery.nextAttemptAt);
      const next = Math.min(stored, ...waits.filter((at) => at > now));
      return Number.isFinite(next) ? next : null;
    },
    claim(message, ids) {
      for (const id of ids) {
        const entry = byId.get(id);
        if (entry !== undefined) entry.message = message;
      }
      const stored = ids.filter((id) => byId.get(id) === undefined).map((id) => storedAs.get(id) ?? id);
      if (stored.length > 0) store.claim(message, stored);
    },
    settle(settlements) {
      const stored = settlements.flatMap((settlement) => {
        const entry = byId.get(settlement.id);
        if (entry === undefined) return [{ ...settlement, id: storedAs.get(settlement.id) ?? settlement.id }];
        note(entry, settlement);
        return [];
      });
      if (stored.length > 0) store.settle(stored);
    },
    sentMessages: (since) => store.sentMessages(since),
    toldAndOpen(channel) {
      const stored = readStored(() => store.toldAndOpen(channel), []).filter(
        ({ incident }) => (incidents.get(incident.id) ?? incident).endedAt === null,
      );
      const told = [...entries.values()].flatMap(({ delivery, last }) => {
        const incident = incidents.get(delivery.incidentId);
        const isTold = delivery.channel === channel && delivery.kind === 'opened' && last?.state === 'sent';
        return isTold && incident?.endedAt === null ? [{ recipient: delivery.recipient, incident }] : [];
      });
      return [...stored, ...told];
    },
  };
}

function isPending({ last }: Entry): boolean {
  return last === null || last.state === 'pending';
}

function referenceOf({ last }: Entry): string | null {
  return last?.state === 'sent' ? (last.reference ?? null) : null;
}

// What is stored came before what is not.
function orderOf({ id }: Delivery): number {
  return id > 0 ? id : 2 ** 50 - id;
}

function keyOf({ incidentId, kind, number, channel, recipient }: Delivery): string {
  return JSON.stringify([incidentId, kind, number, channel, recipient]);
}

function laneOf({ channel, recipient }: Pick<Delivery, 'channel' | 'recipient'>): string {
  return JSON.stringify([channel, recipient]);
}
