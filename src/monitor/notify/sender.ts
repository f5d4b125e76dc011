import type { Clock } from '#kernel/clock.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import type { Random } from '#kernel/random.ts';
import type { Delivery } from '../judge/delivery.ts';
import { attemptToSend } from './attempt.ts';
import type { Channel, Message, DeliveryReceipt } from './channel.ts';
import { composeMessage } from './compose-message.ts';
import type { ContentOptions } from './content.ts';
import type { DeliveryPolicy } from './delivery-policy.ts';
import type { DueDeliveries } from './due-deliveries.ts';
import { ownDeliveriesOf } from './message-part.ts';
import { highestSeverity, type MessageParts, sortOfMessage, wasRefused } from './next-message.ts';
import {
  type QueueAddress,
  deliveriesOf,
  type MessageDispatch,
  keyOf,
  type RecipientQueues,
} from './recipient-queues.ts';
import type { Refusals } from './refusals.ts';
import type { RequestedPauses } from './requested-pauses.ts';
import {
  outcomesOfDead,
  outcomesOfFailed,
  type DeliveryFailure,
  outcomesOfMerged,
  outcomesOfRefused,
  outcomesOfSent,
} from './outcomes-of.ts';
import type { DeliveryOutcomes } from './delivery-outcomes.ts';

export interface SenderOptions {
  readonly channels: readonly Channel[];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly content: Omit<ContentOptions, 'zone'>;
  /** Distinguishes the messages of this installation from those of others that watch the same names. */
  readonly identity: string;
  readonly queues: Pick<RecipientQueues, 'remember' | 'release'>;
  readonly pauses: Pick<RequestedPauses, 'begin'>;
  readonly outcomes: DeliveryOutcomes;
  readonly due: DueDeliveries;
  readonly refusals: Refusals;
  /** Other ways to the same people. */
  readonly othersOf?: ((address: QueueAddress) => readonly QueueAddress[]) | undefined;
  readonly signal: AbortSignal;
}

/** Sends what a recipient is to get, and settles it by what became of it. Never rejects. */
export type MessageSender = (dispatch: MessageDispatch) => Promise<void>;

interface SendAttempt {
  readonly address: QueueAddress;
  readonly policy: DeliveryPolicy;
  readonly parts: MessageParts;
  readonly message: Message;
  /** Whether it may have arrived before. */
  readonly isRepeat: boolean;
}

export function createSender(options: SenderOptions): MessageSender {
  const { clock, random, log, queues, pauses, outcomes, due, refusals, signal } = options;
  const channels = new Map(options.channels.map((channel) => [channel.name, channel]));

  // Fails only by a defect of our own, and then neither loses the deliveries nor tries them in a tight loop.
  function compose(parts: MessageParts, policy: DeliveryPolicy, chosenId: string | null): Message | null {
    try {
      const { zone } = policy;
      return composeMessage(parts, { ...options.content, zone, identity: options.identity }, chosenId);
    } catch (error) {
      log.error({ err: error, incident: parts[0].incident.id }, 'cannot compose a message');
      const reason = messageOf(error);
      scheduleRetry(parts, policy, { reason, askedMs: undefined, message: chosenId, leastMs: null });
      return null;
    }
  }

  function conclude({ address, policy, parts, message, isRepeat }: SendAttempt, receipt: DeliveryReceipt): void {
    const { id, kind } = message;
    const incidents = parts.map(({ incident }) => incident.id);
    if (receipt.kind !== 'retry') refusals.reached(keyOf(address));
    else if (!signal.aborted) refusals.unreached(keyOf(address));
    const isNotified = parts.every(({ isKnownToOthers }) => isKnownToOthers);
    switch (receipt.kind) {
      case 'delivered': {
        if (refusals.isAway(address.channel)) due.awaken(address.channel);
        refusals.delivered(address.channel, incidents);
        log.info({ incidents, kind, ...address, message: id, response: receipt.response }, 'delivered');
        const severity = highestSeverity(parts);
        const sort = sortOfMessage(kind === 'digest' ? kind : parts[0].kind, severity);
        queues.remember(address, { sort, severity }, 0);
        const went = { message: id, reference: receipt.reference };
        const isNews = (part: MessageParts[number]) => wasRejectedSince(part, address);
        return outcomes.store(outcomesOfSent(parts, went, { policy, isNews, at: clock.now() }));
      }
      case 'rejected': {
        refusals.refused(address.channel, incidents, receipt.reason, isNotified);
        const isKnown = ({ incidentId }: Delivery) => refusals.rejectedFor(incidentId).has(keyOf(address));
        const context = { random, now: clock.now(), isKnown, message: isRepeat && mayHaveArrived(parts) ? id : null };
        const { waiting, over } = outcomesOfRefused(parts, receipt.reason, context);
        refusals.rejected(address, incidents);
        due.refused(waiting.map(({ delivery }) => delivery.id));
        outcomes.store(waiting);
        due.hasten(incidents, options.othersOf?.(address) ?? []);
        return giveUp(over, policy, receipt.reason);
      }
      case 'retry': {
        // An attempt that we broke off ourselves says nothing about the other side: it stays due.
        if (signal.aborted) return;
        refusals.refused(address.channel, incidents, receipt.reason, isNotified);
        // That a repeat did not arrive says nothing about the first.
        const { reason, afterMs: askedMs, isUncertain = false, atLeastMs: leastMs = null } = receipt;
        if (askedMs !== undefined) pauses.begin(address, askedMs);
        return scheduleRetry(parts, policy, { reason, askedMs, leastMs, message: isRepeat || isUncertain ? id : null });
      }
    }
  }

  // An address that was rejected while this message was on its way: the message does not say so.
  function wasRejectedSince({ kind, incident, unreached }: MessageParts[number], address: QueueAddress): boolean {
    if (kind !== 'opened') return false;
    const said = new Set([address, ...unreached].map(keyOf));
    return [...refusals.rejectedFor(incident.id)].some((one) => !said.has(one));
  }

  function scheduleRetry(parts: MessageParts, policy: DeliveryPolicy, failure: DeliveryFailure): void {
    const { retried, hopeless } = outcomesOfFailed(parts, failure, random, clock.now());
    giveUp(hopeless, policy, failure.reason);
    outcomes.store(retried);
  }

  function giveUp(deliveries: readonly Delivery[], policy: DeliveryPolicy, reason: string): void {
    if (deliveries.length === 0) return;
    const given = deliveries.map(({ id }) => id);
    const { channel, recipient } = deliveries[0] ?? {};
    log.error({ deliveries: given, channel, recipient }, `given up: ${reason}`);
    outcomes.store(outcomesOfDead(deliveries, reason, policy, clock.now()));
  }

  async function send(parts: MessageParts, { next, policy, ...address }: MessageDispatch): Promise<void> {
    const deliveries = parts.flatMap(allOf);
    const channel = channels.get(address.channel);
    if (channel === undefined) return giveUp(deliveries, policy, `no channel "${address.channel}" is configured`);
    const chosenId = next.kind === 'send' ? next.message : null;
    const message = compose(parts, policy, chosenId);
    if (message === null) return;
    if (chosenId === null || outcomes.claimsRepeats) {
      const claimed = outcomes.claim(message.id, parts.flatMap(ownDeliveriesOf));
      if (claimed !== true && !(await claimed)) return;
    }
    const attempt = { clock, log, signal };
    const receipt = await attemptToSend(channel, message, address.recipient, attempt);
    conclude({ address, policy, parts, message, isRepeat: chosenId !== null }, receipt);
  }

  return async (dispatch) => {
    const { next } = dispatch;
    try {
      const deliveries = deliveriesOf(next);
      due.begun(deliveries.map(({ id }) => id));
      if (next.kind === 'drop') outcomes.store(outcomesOfMerged(deliveries, null, clock.now()));
      else await send(next.parts, dispatch);
    } finally {
      queues.release(dispatch);
    }
  };
}

// That a repeat is refused for good says nothing about the first; refused again, several incidents go in smaller groups.
const mayHaveArrived = (parts: MessageParts): boolean => parts.length === 1 || !parts.some(wasRefused);

const allOf = ({ sent, merged }: MessageParts[number]) => [sent, ...merged];
