import type { ListedDelivery } from '#monitor/judge/delivery.ts';
import type { OutcomeInput } from './rows.ts';

/** A delivery as it is once what waits for the database is in it. */
interface LatestDelivery extends Pick<ListedDelivery, 'state' | 'message' | 'reference' | 'settledAt'> {
  /** Never again for a delivery that is settled; undefined if nothing about it waits. */
  readonly dueAt: number | undefined;
}

const unsettled = { state: 'pending', reference: null, settledAt: null } as const;

/** Deliveries by what waits to be written about them. */
export function latestOf(waiting: readonly OutcomeInput[]): ReadonlyMap<number, LatestDelivery> {
  const latest = new Map<number, LatestDelivery>();
  for (const outcome of waiting) {
    const { id, state } = outcome;
    if (state === 'claimed') latest.set(id, { ...unsettled, dueAt: latest.get(id)?.dueAt, message: outcome.message });
    else if (state === 'pending')
      latest.set(id, { ...unsettled, dueAt: outcome.nextAttemptAt, message: outcome.message });
    else {
      const message = state === 'dead' ? null : outcome.message;
      const reference = state === 'sent' ? (outcome.reference ?? null) : null;
      latest.set(id, { dueAt: Number.POSITIVE_INFINITY, state, message, reference, settledAt: outcome.at });
    }
  }
  return latest;
}
