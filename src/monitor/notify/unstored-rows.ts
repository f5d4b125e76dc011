import type { Delivery, DeliveryOutcome, PendingDelivery, NotifiedIncident } from '../judge/delivery.ts';
import type { Incident } from '../judge/incident.ts';
import type { RoundRecord } from '../judge/round-record.ts';

/** A delivery that is in memory only. */
export interface UnstoredRow {
  /** As it is by now; its id is negative. */
  readonly delivery: Delivery;
  /** The message that tells it or may have, or null. */
  readonly message: string | null;
  /** How its last attempt ended, or null. */
  readonly last: DeliveryOutcome | null;
}

/** Deliveries that could not be stored so far, as the database would keep them. */
export interface UnstoredRows {
  readonly isEmpty: boolean;
  add(record: Pick<RoundRecord, 'incidents' | 'deliveries'>): void;
  /** The row of the same name as a delivery. */
  find(delivery: Delivery): UnstoredRow | undefined;
  byId(id: number): UnstoredRow | undefined;
  /** To be called once it is stored. */
  remove(row: UnstoredRow): void;
  claim(id: number, message: string): void;
  storeOutcome(outcome: DeliveryOutcome): void;
  /** The incident as the newest of what could not be stored says, if that says anything. */
  incident(id: string): Incident | undefined;
  pending(): readonly UnstoredRow[];
  /** All about an incident. */
  of(incident: string): readonly UnstoredRow[];
  /** The other recipients of the incident of a delivery. */
  othersOf(delivery: Delivery): Pick<PendingDelivery, 'unreached' | 'isKnownToOthers'>;
  notifiedAndOpen(channel: string): readonly NotifiedIncident[];
}

export function createUnstoredRows(): UnstoredRows {
  const rows = new Map<string, UnstoredRow>();
  const keys = new Map<number, string>();
  const incidents = new Map<string, Incident>();
  const counts = new Map<string, number>();
  let lastId = 0;

  function add(delivery: Delivery): void {
    const key = keyOf(delivery);
    if (rows.has(key)) return;
    lastId -= 1;
    rows.set(key, { delivery: { ...delivery, id: lastId }, message: null, last: null });
    keys.set(lastId, key);
    counts.set(delivery.incidentId, (counts.get(delivery.incidentId) ?? 0) + 1);
  }

  function byId(id: number): UnstoredRow | undefined {
    return rows.get(keys.get(id) ?? '');
  }

  function put(row: UnstoredRow): void {
    rows.set(keyOf(row.delivery), row);
  }

  function remind(delivery: Delivery, at: number): void {
    const number = delivery.kind === 'reminder' ? delivery.number + 1 : 1;
    const times = { createdAt: at, nextAttemptAt: at, attempts: 0, lastError: null };
    add({ ...delivery, ...times, kind: 'reminder', number });
  }

  return {
    get isEmpty() {
      return rows.size === 0;
    },
    add({ incidents: changed, deliveries }) {
      deliveries.forEach(add);
      for (const incident of changed) if (counts.has(incident.id)) incidents.set(incident.id, incident);
    },
    find: (delivery) => rows.get(keyOf(delivery)),
    byId,
    remove({ delivery }) {
      rows.delete(keyOf(delivery));
      keys.delete(delivery.id);
      const left = (counts.get(delivery.incidentId) ?? 1) - 1;
      if (left > 0) return void counts.set(delivery.incidentId, left);
      // What the database says of it is not older any more.
      counts.delete(delivery.incidentId);
      incidents.delete(delivery.incidentId);
    },
    claim(id, message) {
      const row = byId(id);
      if (row !== undefined) put({ ...row, message });
    },
    storeOutcome(outcome) {
      const row = byId(outcome.id);
      if (row === undefined) return;
      put(withOutcome(row, outcome));
      const { delivery } = row;
      const isOpen = incidents.get(delivery.incidentId)?.endedAt === null;
      const { remindAt = null } = outcome.state === 'sent' || outcome.state === 'dead' ? outcome : {};
      if (remindAt !== null && isOpen) remind(delivery, remindAt);
    },
    incident: (id) => incidents.get(id),
    of: (incident) => [...rows.values()].filter(({ delivery }) => delivery.incidentId === incident),
    pending: () => [...rows.values()].filter(isPending),
    othersOf(delivery) {
      const others = [...rows.values()].filter(
        ({ delivery: one }) =>
          one.kind === 'opened' && one.incidentId === delivery.incidentId && laneOf(one) !== laneOf(delivery),
      );
      return {
        unreached: others.flatMap(({ delivery: { channel, recipient, lastError: reason }, last }) =>
          reason === null || last?.state === 'sent' ? [] : [{ channel, recipient, reason }],
        ),
        isKnownToOthers: others.some(({ last }) => last?.state === 'sent'),
      };
    },
    notifiedAndOpen: (channel) =>
      [...rows.values()].flatMap(({ delivery, last }) => {
        const incident = incidents.get(delivery.incidentId);
        const isNotified = delivery.channel === channel && delivery.kind === 'opened' && last?.state === 'sent';
        return isNotified && incident?.endedAt === null ? [{ recipient: delivery.recipient, incident }] : [];
      }),
  };
}

function withOutcome(row: UnstoredRow, outcome: DeliveryOutcome): UnstoredRow {
  const { delivery, last } = row;
  if (outcome.state === 'dead') return { ...row, last: outcome, delivery: { ...delivery, lastError: outcome.error } };
  if (outcome.state !== 'pending') return { ...row, last: outcome, message: outcome.message };
  const { nextAttemptAt, error: lastError, message } = outcome;
  const notifyOthersAt = (last?.state === 'pending' ? last.notifyOthersAt : null) ?? outcome.notifyOthersAt ?? null;
  return {
    delivery: { ...delivery, attempts: delivery.attempts + 1, nextAttemptAt, lastError },
    message,
    last: { ...outcome, notifyOthersAt },
  };
}

export function isPending({ last }: UnstoredRow): boolean {
  return last === null || last.state === 'pending';
}

function keyOf({ incidentId, kind, number, channel, recipient }: Delivery): string {
  return JSON.stringify([incidentId, kind, number, channel, recipient]);
}

export function laneOf({ channel, recipient }: Pick<Delivery, 'channel' | 'recipient'>): string {
  return JSON.stringify([channel, recipient]);
}
