import type { Random } from '#kernel/random.ts';
import type { Delivery } from '../judge/delivery.ts';
import { backoffMs, isHopeless } from './backoff.ts';
import { type DeliveryPolicy, remindAfter } from './delivery-policy.ts';
import type { MessageParts } from './next-message.ts';
import type { SettledDelivery } from './settlements.ts';

/** The settlements of a message that was accepted. What is open is to be reminded of. */
export function sentEntries(
  parts: MessageParts,
  message: string,
  policy: DeliveryPolicy,
  at: number,
): readonly SettledDelivery[] {
  return parts.flatMap(({ sent, merged, incident }) => {
    const reminders = sent.kind === 'reminder' ? sent.number : 0;
    const afterMs = incident.endedAt === null ? remindAfter(policy, reminders) : null;
    const remindAt = afterMs === null ? null : at + afterMs;
    const entry: SettledDelivery = {
      delivery: sent,
      settlement: { id: sent.id, state: 'sent', at, message, remindAt },
    };
    return [entry, ...mergedEntries(merged, message, at)];
  });
}

/** The settlements of deliveries that another message told, or that have nothing left to tell. */
export function mergedEntries(
  deliveries: readonly Delivery[],
  message: string | null,
  at: number,
): readonly SettledDelivery[] {
  return deliveries.map((delivery) => ({
    delivery,
    settlement: { id: delivery.id, state: 'merged', at, message },
  }));
}

export interface Failure {
  readonly reason: string;
  /** How long the other side asked to wait. */
  readonly askedMs: number | undefined;
  /** The message that may have arrived nevertheless, or null. */
  readonly message: string | null;
}

export interface Failed {
  readonly waitMs: number;
  readonly retried: readonly SettledDelivery[];
  /** Given up: tried for long enough. */
  readonly hopeless: readonly Delivery[];
}

/** The settlements of a message that was not accepted for now. Its deliveries wait for the next attempt together. */
export function failedEntries(
  deliveries: readonly Delivery[],
  { reason: error, askedMs, message }: Failure,
  random: Random,
  now: number,
): Failed {
  const waitMs = backoffMs(Math.max(...deliveries.map(({ attempts }) => attempts)), random, askedMs);
  const left = deliveries.filter((delivery) => !isHopeless(delivery, now));
  const retried = left.map((delivery): SettledDelivery => ({
    delivery,
    settlement: { id: delivery.id, state: 'pending', nextAttemptAt: now + waitMs, error, message },
  }));
  return { waitMs, retried, hopeless: deliveries.filter((delivery) => isHopeless(delivery, now)) };
}

/** The settlements of deliveries that are given up. */
export function deadEntries(deliveries: readonly Delivery[], error: string, at: number): readonly SettledDelivery[] {
  return deliveries.map((delivery) => ({ delivery, settlement: { id: delivery.id, state: 'dead', at, error } }));
}
