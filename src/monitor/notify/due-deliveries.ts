import type { Clock } from '#kernel/clock.ts';
import type { PendingDelivery } from '../judge/delivery.ts';
import type { Incident } from '../judge/incident.ts';
import type { DeliveryStore } from './delivery-store.ts';
import { type QueueAddress, keyOf } from './recipient-queues.ts';
import type { DeliveryOutcomes } from './delivery-outcomes.ts';

/** The deliveries that are due by now, whatever the clock has done. */
export interface DueDeliveries {
  /** Everything that is unsettled for the recipients who have something due by `now`. Throws what the store throws. */
  read(now: number): readonly PendingDelivery[];
  /** A message about these is on its way: they need no special treatment any more. */
  begun(ids: readonly number[]): void;
  /** The other side refused these for good: they wait for their own time, whatever else gets through. */
  refused(ids: readonly number[]): void;
  /** Deliveries to these addresses about these incidents are due at once: other recipients cannot be reached. */
  hasten(incidents: readonly string[], addresses: readonly QueueAddress[]): void;
  /** A server takes messages again: what it put off before is due at once. */
  awaken(channel: string): void;
  /** These addresses lead to another server by now: what the one before put off or refused is due at once. */
  readdress(addresses: readonly QueueAddress[]): void;
  /** Whether something became due at once since they were last read. */
  readonly isOutdated: boolean;
}

export interface DueDeliveriesOptions {
  readonly store: Pick<DeliveryStore, 'dueDeliveries'>;
  readonly outcomes: Pick<DeliveryOutcomes, 'settledIds'>;
  readonly clock: Clock;
  /** Whether reminders of an incident are suppressed for now. */
  readonly isSilenced?: ((incident: Incident) => boolean) | undefined;
}

const most = 10_000;
const clockStepMs = 1_000;

export function createDueDeliveries({ store, outcomes, clock, isSilenced }: DueDeliveriesOptions): DueDeliveries {
  const overdue = new Set<number>();
  const refused = new Set<number>();
  const awake = new Set<string>();
  const hastened = new Set<string>();
  const hurried = new Set<number>();
  const readdressed = new Set<string>();
  let wallAhead = clock.now() - clock.elapsed();
  let isEverythingDue = true;

  // A reminder waits during a silence; one that was on its way before is repeated unchanged.
  function isHeld({ delivery, incident, message }: PendingDelivery): boolean {
    if (delivery.kind !== 'reminder' || message !== null || incident.endedAt !== null) return false;
    return isSilenced?.(incident) ?? false;
  }

  // What may have been accepted waits for its own time, also if the server accepts others.
  function isOverdue({ delivery, message }: PendingDelivery): boolean {
    const { id, kind, attempts, channel } = delivery;
    if (isEverythingDue) return kind !== 'reminder' || attempts > 0;
    if (readdressed.has(keyOf(delivery))) return attempts > 0 && message === null;
    return awake.has(channel) && attempts > 0 && message === null && !refused.has(id);
  }

  function isHastened({ delivery, message }: PendingDelivery): boolean {
    return delivery.kind === 'opened' && message === null && hastened.has(hasteKey(delivery.incidentId, delivery));
  }

  return {
    // If the wall clock was set back, due times lie too late by as much; over a restart it is unknown how much. So each waiting
    // delivery is then tried once at once, except for reminders that were never due.
    read(now) {
      const ahead = now - clock.elapsed();
      if (ahead < wallAhead - clockStepMs) isEverythingDue = true;
      wallAhead = ahead;
      const settled = outcomes.settledIds();
      const isAnyOverdue = isEverythingDue || overdue.size + awake.size + hastened.size + readdressed.size > 0;
      const rows = store
        .dueDeliveries(isAnyOverdue ? Number.MAX_SAFE_INTEGER : now, most)
        .filter((row) => !settled.has(row.delivery.id) && !isHeld(row));
      for (const row of rows) if (isHastened(row)) hurried.add(row.delivery.id);
      for (const row of rows) if (isOverdue(row) || isHastened(row)) overdue.add(row.delivery.id);
      isEverythingDue = false;
      awake.clear();
      hastened.clear();
      readdressed.clear();
      return rows.map((read) => {
        const { id } = read.delivery;
        const row = refused.has(id) ? { ...read, isRefused: true } : read;
        return overdue.has(id) ? dueAt(row, now, hurried.has(id)) : row;
      });
    },
    begun(ids) {
      for (const id of ids) overdue.delete(id);
      for (const id of ids) refused.delete(id);
      for (const id of ids) hurried.delete(id);
    },
    refused(ids) {
      for (const id of ids) refused.add(id);
    },
    hasten(incidents, addresses) {
      for (const id of incidents) for (const one of addresses) hastened.add(hasteKey(id, one));
    },
    awaken: (channel) => void awake.add(channel),
    readdress(addresses) {
      for (const one of addresses) readdressed.add(keyOf(one));
    },
    get isOutdated() {
      return awake.size + hastened.size > 0;
    },
  };
}

const hasteKey = (incident: string, address: QueueAddress) => `${incident} ${keyOf(address)}`;

const dueAt = (row: PendingDelivery, now: number, isHastened: boolean): PendingDelivery => ({
  ...row,
  isHastened,
  delivery: { ...row.delivery, nextAttemptAt: Math.min(row.delivery.nextAttemptAt, now) },
});
