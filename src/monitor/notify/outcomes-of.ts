import type { Random } from '#kernel/random.ts';
import type { Delivery } from '../judge/delivery.ts';
import { backoffMs, isHopeless, refusedMs, uncertainWaitMs } from './backoff.ts';
import { type DeliveryPolicy, remindAfter } from './delivery-policy.ts';
import { ownDeliveriesOf, previouslySent } from './message-part.ts';
import { isUrgentPart, type MessageParts, mostHalvings } from './next-message.ts';
import type { DeliveryWithOutcome } from './delivery-outcomes.ts';

export interface SentContext {
  readonly policy: DeliveryPolicy;
  /** Whether there is something to remind of at once. */
  readonly isNews: (part: MessageParts[number]) => boolean;
  readonly at: number;
}

/**
 * The delivery outcomes of an accepted message. Open incidents get a reminder. Deliveries that an earlier message may have covered
 * keep its id, because that message may be in a mailbox.
 */
export function outcomesOfSent(
  parts: MessageParts,
  { message, reference }: { readonly message: string; readonly reference: string | undefined },
  { policy, isNews, at }: SentContext,
): readonly DeliveryWithOutcome[] {
  return parts.flatMap((part) => {
    const { incident } = part;
    const [sent = part.sent, ...merged] = ownDeliveriesOf(part);
    const reminders = sent.kind === 'reminder' ? sent.number : 0;
    const isReminded = incident.endedAt === null && sent.kind !== 'update';
    const afterMs = isReminded ? (isNews(part) ? 0 : remindAfter(policy, reminders)) : null;
    const remindAt = afterMs === null ? null : at + afterMs;
    const settled: DeliveryWithOutcome = {
      delivery: sent,
      outcome: {
        id: sent.id,
        state: 'sent',
        at,
        message,
        remindAt,
        ...(reference === undefined ? {} : { reference }),
      },
    };
    const before = previouslySent(part).flatMap((one) => outcomesOfMerged([one.delivery], one.message, at));
    return [settled, ...outcomesOfMerged(merged, message, at), ...before];
  });
}

/** The outcomes of deliveries that another message covered, or that have nothing left to notify. */
export function outcomesOfMerged(
  deliveries: readonly Delivery[],
  message: string | null,
  at: number,
): readonly DeliveryWithOutcome[] {
  return deliveries.map((delivery) => ({
    delivery,
    outcome: { id: delivery.id, state: 'merged', at, message },
  }));
}

export interface DeliveryFailure {
  readonly reason: string;
  /** How long the other side asked to wait. */
  readonly askedMs: number | undefined;
  /** The message that may have arrived nevertheless, or null. */
  readonly message: string | null;
  /** The least to wait, because this very attempt may have succeeded; null if a repeat cannot be a duplicate. */
  readonly leastMs: number | null;
}

export interface FailedDeliveries {
  readonly retried: readonly DeliveryWithOutcome[];
  /** Given up: tried for long enough. */
  readonly hopeless: readonly Delivery[];
}

/** The outcomes of a message that was not accepted for now. Its deliveries wait for the next attempt together. */
export function outcomesOfFailed(
  parts: MessageParts,
  { reason: error, askedMs, message, leastMs }: DeliveryFailure,
  random: Random,
  now: number,
): FailedDeliveries {
  const deliveries = parts.flatMap(ownDeliveriesOf);
  const isUrgent = parts.some(isUrgentPart);
  const attempts = Math.max(...deliveries.map((one) => one.attempts));
  const waitMs = Math.max(
    backoffMs(attempts, random, askedMs, isUrgent),
    leastMs === null ? 0 : uncertainWaitMs(leastMs, attempts, random),
  );
  const left = deliveries.filter((delivery) => !isHopeless(delivery, now));
  const retried = left.map((delivery): DeliveryWithOutcome => ({
    delivery,
    outcome: { id: delivery.id, state: 'pending', nextAttemptAt: now + waitMs, error, message },
  }));
  // One that may be in a mailbox covers the beginning too: the earlier one need not be repeated any more.
  const before = message === null ? [] : parts.flatMap(previouslySent);
  const merged = before.flatMap((one) => outcomesOfMerged([one.delivery], one.message, now));
  return { retried: [...retried, ...merged], hopeless: deliveries.filter((delivery) => isHopeless(delivery, now)) };
}

interface RefusalContext {
  readonly random: Random;
  readonly now: number;
  /** Whether a message about the same was refused for good before. */
  readonly isKnown: (delivery: Delivery) => boolean;
  /** The message that may have arrived nevertheless, as this was a repetition of it; or null. */
  readonly message: string | null;
}

/**
 * The delivery outcomes of a message that the other side refuses for good. While an incident is open its deliveries are retried, ever
 * more slowly, and its other recipients learn who could not be notified; deliveries about an incident that is over are given up, once
 * they were refused in a message of their own.
 */
export function outcomesOfRefused(
  parts: MessageParts,
  error: string,
  { random, now, isKnown, message }: RefusalContext,
): { readonly waiting: readonly DeliveryWithOutcome[]; readonly over: readonly Delivery[] } {
  // Of several it may be one that is refused.
  const isOneOfMany = ({ rows }: MessageParts[number]) =>
    parts.length > 1 && rows.every(({ delivery }) => delivery.attempts < mostHalvings);
  const isWaiting = (part: MessageParts[number]) =>
    isOneOfMany(part) || (part.kind === 'opened' && part.incident.endedAt === null);
  const waiting = parts.filter(isWaiting).flatMap(({ sent, merged }) => [sent, ...merged]);
  const nextAttemptAt = now + refusedMs(Math.max(0, ...waiting.map(({ attempts }) => attempts)), random);
  return {
    waiting: waiting.map((delivery) => {
      const { id, kind, attempts, lastError } = delivery;
      // Over a restart the reason tells.
      const isFirst = kind === 'opened' && !isKnown(delivery) && (attempts === 0 || lastError !== error);
      const notifyOthersAt = isFirst ? now : null;
      return { delivery, outcome: { id, state: 'pending', nextAttemptAt, error, message, notifyOthersAt } };
    }),
    over: parts.filter((part) => !isWaiting(part)).flatMap(({ sent, merged }) => [sent, ...merged]),
  };
}

/** The outcomes of deliveries that are given up. A reminder is followed by the next one, as if it had been sent. */
export function outcomesOfDead(
  deliveries: readonly Delivery[],
  error: string,
  policy: DeliveryPolicy,
  at: number,
): readonly DeliveryWithOutcome[] {
  return deliveries.map((delivery) => {
    const afterMs = delivery.kind === 'reminder' ? remindAfter(policy, delivery.number) : null;
    const remindAt = afterMs === null ? null : at + afterMs;
    return { delivery, outcome: { id: delivery.id, state: 'dead', at, error, remindAt } };
  });
}
