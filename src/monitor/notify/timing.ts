import type { PendingDelivery } from '../judge/delivery.ts';
import type { DeliveryTimes } from './delivery-policy.ts';
import { isWithin, nextBeginning } from './hours.ts';

/** Whether a recipient may be notified of an incident: now, later, or never, because it takes only what still holds by then. */
export type DeliveryTiming =
  | { readonly kind: 'now' }
  | { readonly kind: 'never' }
  | { readonly kind: 'later'; readonly reason: 'escalation' | 'hours'; readonly until: number };

const now: DeliveryTiming = { kind: 'now' };
const never: DeliveryTiming = { kind: 'never' };

/**
 * When the pending deliveries of one incident are due, by the settings of a recipient. Pure. An `opened` waits until the incident has
 * lasted for `afterMs`, and until the recipient's hours; an incident that is over or acknowledged by then is never sent, nor is its
 * end. The end of a notified incident is sent within the hours. A recipient that was tried before gets the rest.
 */
export function timingOf(
  rows: readonly [PendingDelivery, ...PendingDelivery[]],
  { afterMs = 0, hours }: DeliveryTimes,
  at: number,
): DeliveryTiming {
  if (afterMs === 0 && hours === undefined) return now;
  const [{ incident }] = rows;
  const opened = rows.find(({ delivery }) => delivery.kind === 'opened')?.delivery;
  const isOpenNow = hours === undefined || isWithin(hours, at);
  if (opened === undefined && rows.every(({ root }) => root === null)) return never;
  if (opened !== undefined && opened.attempts === 0) {
    // One from the future was made before the clock was set back: it has waited long enough.
    const dueAt = opened.createdAt > at ? at : opened.createdAt + afterMs;
    const end = rows.find(({ delivery: { kind } }) => kind === 'resolved' || kind === 'closed')?.delivery;
    const endedAt = end?.createdAt ?? incident.endedAt;
    const wasHeld = (hours !== undefined && !isWithin(hours, dueAt)) || (endedAt !== null && endedAt < dueAt);
    if (wasHeld && endedAt !== null) return never;
    if (incident.acknowledged !== null && (afterMs > 0 || wasHeld)) return never;
    if (dueAt > at) return { kind: 'later', reason: 'escalation', until: dueAt };
  }
  return isOpenNow || hours === undefined ? now : { kind: 'later', reason: 'hours', until: nextBeginning(hours, at) };
}
