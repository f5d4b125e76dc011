import type { Random } from '#kernel/random.ts';
import type { Delivery } from '../judge/delivery.ts';
import { backoffMs, isHopeless, refusedMs, uncertainWaitMs } from './backoff.ts';
import { type DeliveryPolicy, remindAfter } from './delivery-policy.ts';
import { ownDeliveriesOf, toldBefore } from './message-part.ts';
import type { MessageParts } from './next-message.ts';
import type { SettledDelivery } from './settlements.ts';

export interface SentContext {
  readonly policy: DeliveryPolicy;
  /** Whether there is something to remind of at once. */
  readonly isNews: (part: MessageParts[number]) => boolean;
  readonly at: number;
}

/**
 * The settlements of a message that was accepted. What is open is to be reminded of. What an earlier message may have told keeps its
 * name: that one may be in a mailbox.
 */
export function settlementsOfSent(
  parts: MessageParts,
  { message, reference }: { readonly message: string; readonly reference: string | undefined },
  { policy, isNews, at }: SentContext,
): readonly SettledDelivery[] {
  return parts.flatMap((part) => {
    const { incident } = part;
    const [sent = part.sent, ...merged] = ownDeliveriesOf(part);
    const reminders = sent.kind === 'reminder' ? sent.number : 0;
    const isReminded = incident.endedAt === null && sent.kind !== 'update';
    const afterMs = isReminded ? (isNews(part) ? 0 : remindAfter(policy, reminders)) : null;
    const remindAt = afterMs === null ? null : at + afterMs;
    const settled: SettledDelivery = {
      delivery: sent,
      settlement: {
        id: sent.id,
        state: 'sent',
        at,
        message,
        remindAt,
        ...(reference === undefined ? {} : { reference }),
      },
    };
    const before = toldBefore(part).flatMap((one) => settlementsOfMerged([one.delivery], one.message, at));
    return [settled, ...settlementsOfMerged(merged, message, at), ...before];
  });
}

/** The outcomes of deliveries that another message covered, or that have nothing left to notify. */
export function settlementsOfMerged(
  deliveries: readonly Delivery[],
  message: string | null,
  at: number,
): readonly SettledDelivery[] {
  return deliveries.map((delivery) => ({
    delivery,
    settlement: { id: delivery.id, state: 'merged', at, message },
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
  readonly retried: readonly SettledDelivery[];
  /** Given up: tried for long enough. */
  readonly hopeless: readonly Delivery[];
}

/** The outcomes of a message that was not accepted for now. Its deliveries wait for the next attempt together. */
export function settlementsOfFailed(
  parts: MessageParts,
  { reason: error, askedMs, message, leastMs }: DeliveryFailure,
  random: Random,
  now: number,
): FailedDeliveries {
  const deliveries = parts.flatMap(ownDeliveriesOf);
  const isUrgent = parts.some(({ kind, incident }) => kind === 'opened' && incident.severity === 'critical');
  const attempts = Math.max(...deliveries.map((one) => one.attempts));
  const waitMs = Math.max(
    backoffMs(attempts, random, askedMs, isUrgent),
    leastMs === null ? 0 : uncertainWaitMs(leastMs, attempts, random),
  );
  const left = deliveries.filter((delivery) => !isHopeless(delivery, now));
  const retried = left.map((delivery): SettledDelivery => ({
    delivery,
    settlement: { id: delivery.id, state: 'pending', nextAttemptAt: now + waitMs, error, message },
  }));
  // One that may be in a mailbox covers the beginning too: the earlier one need not be repeated any more.
  const before = message === null ? [] : parts.flatMap(toldBefore);
  const merged = before.flatMap((one) => settlementsOfMerged([one.delivery], one.message, now));
  return { retried: [...retried, ...merged], hopeless: deliveries.filter((delivery) => isHopeless(delivery, now)) };
}

/**
 * What follows where the other side will never take a message as it is. While an incident is open its news is tried again, ever
 * more slowly, and others who were told of it hear who was not; what is about an incident that is over is given up.
 */
export function settlementsOfRefused(
  parts: MessageParts,
  error: string,
  random: Random,
  now: number,
): { readonly waiting: readonly SettledDelivery[]; readonly over: readonly Delivery[] } {
  const isWaiting = ({ kind, incident }: MessageParts[number]) => kind === 'opened' && incident.endedAt === null;
  const waiting = parts.filter(isWaiting).flatMap(({ sent, merged }) => [sent, ...merged]);
  return {
    waiting: waiting.map((delivery) => {
      const nextAttemptAt = now + refusedMs(delivery.attempts, random);
      const isFirst = delivery.attempts === 0;
      return {
        delivery,
        settlement: {
          id: delivery.id,
          state: 'pending',
          nextAttemptAt,
          error,
          message: null,
          tellOthersAt: isFirst ? now : null,
        },
      };
    }),
    over: parts.filter((part) => !isWaiting(part)).flatMap(({ sent, merged }) => [sent, ...merged]),
  };
}

/** The outcomes of deliveries that are given up. */
export function settlementsOfDead(
  deliveries: readonly Delivery[],
  error: string,
  at: number,
): readonly SettledDelivery[] {
  return deliveries.map((delivery) => ({ delivery, settlement: { id: delivery.id, state: 'dead', at, error } }));
}
