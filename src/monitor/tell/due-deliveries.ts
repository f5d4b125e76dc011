import type { Clock } from '#kernel/clock.ts';
import type { PendingDelivery } from '../judge/delivery.ts';
import type { Incident } from '../judge/incident.ts';
import type { DeliveryStore } from './delivery-store.ts';
import type { Settlements } from './settlements.ts';

/** What there is to tell by now, whatever the clock has done. */
export interface DueDeliveries {
  /** Everything that is unsettled for the recipients who have something due. Throws what the store throws. */
  read(): readonly PendingDelivery[];
  /** Somebody is about to be told: these need no special treatment any more. */
  begun(ids: readonly number[]): void;
  /** The other side said that it will never take these as they are: they wait for their own time, whoever else gets through. */
  refused(ids: readonly number[]): void;
  /** A server takes messages again: what it put off before is due at once. */
  awaken(channel: string): void;
}

export interface DueDeliveriesOptions {
  readonly store: Pick<DeliveryStore, 'dueDeliveries'>;
  readonly settlements: Pick<Settlements, 'settledIds'>;
  readonly clock: Clock;
  /** Whether nobody is to be reminded of an incident for now. */
  readonly isSilenced?: ((incident: Incident) => boolean) | undefined;
}

const most = 10_000;
const clockStepMs = 1_000;

export function createDueDeliveries({ store, settlements, clock, isSilenced }: DueDeliveriesOptions): DueDeliveries {
  const overdue = new Set<number>();
  const refused = new Set<number>();
  const awake = new Set<string>();
  let wallAhead = clock.now() - clock.elapsed();
  let isEverythingDue = true;

  // A reminder waits while somebody wants silence; one that was on its way before is repeated as it was.
  function isHeld({ delivery, incident, message }: PendingDelivery): boolean {
    if (delivery.kind !== 'reminder' || message !== null || incident.endedAt !== null) return false;
    return isSilenced?.(incident) ?? false;
  }

  function isOverdue({ delivery: { id, kind, attempts, channel } }: PendingDelivery): boolean {
    if (isEverythingDue) return kind !== 'reminder' || attempts > 0;
    return awake.has(channel) && attempts > 0 && !refused.has(id);
  }

  return {
    // Where the wall clock was set back, due times lie too late by as much; over a restart nobody knows how much. So each waiting
    // delivery is then tried once at once, except for reminders that were never due.
    read() {
      const ahead = clock.now() - clock.elapsed();
      if (ahead < wallAhead - clockStepMs) isEverythingDue = true;
      wallAhead = ahead;
      const now = clock.now();
      const settled = settlements.settledIds();
      const isAnyOverdue = isEverythingDue || overdue.size + awake.size > 0;
      const rows = store
        .dueDeliveries(isAnyOverdue ? Number.MAX_SAFE_INTEGER : now, most)
        .filter((row) => !settled.has(row.delivery.id) && !isHeld(row));
      for (const row of rows) if (isOverdue(row)) overdue.add(row.delivery.id);
      isEverythingDue = false;
      awake.clear();
      return rows.map((row) => (overdue.has(row.delivery.id) ? dueAt(row, now) : row));
    },
    begun(ids) {
      for (const id of ids) overdue.delete(id);
      for (const id of ids) refused.delete(id);
    },
    refused(ids) {
      for (const id of ids) refused.add(id);
    },
    awaken: (channel) => void awake.add(channel),
  };
}

const dueAt = (row: PendingDelivery, now: number): PendingDelivery => ({
  ...row,
  delivery: { ...row.delivery, nextAttemptAt: Math.min(row.delivery.nextAttemptAt, now) },
});
