import type { Clock } from '#kernel/clock.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import type { Random } from '#kernel/random.ts';
import type { Delivery, PendingDelivery } from '../judge/delivery.ts';
import type { Incident } from '../judge/incident.ts';
import { attemptToSend } from './attempt.ts';
import type { Channel, Message, Receipt } from './channel.ts';
import { composeMessage } from './compose-message.ts';
import { type DeliveryPolicy, plainPolicy } from './delivery-policy.ts';
import type { DeliveryStore } from './delivery-store.ts';
import { type MessageParts, sortOf } from './next-message.ts';
import { type Address, createRecipientQueues, type Dispatch } from './recipient-queues.ts';
import { deadEntries, failedEntries, type Failure, mergedEntries, sentEntries } from './settle.ts';
import { createSettlements, type Settled } from './settlements.ts';

export type { Settled } from './settlements.ts';

export interface OutboxOptions {
  readonly store: Pick<DeliveryStore, 'dueDeliveries' | 'nextDeliveryAt' | 'claim' | 'settle' | 'sentMessages'>;
  readonly channels: readonly Channel[];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** How a recipient wants to be told. */
  readonly policyOf?: (address: Address) => DeliveryPolicy;
  /** The page about an incident, where there is one. */
  readonly linkTo: (incident: Incident) => string | null;
  /** Whether nobody is to be reminded of an incident for now. */
  readonly isSilenced?: (incident: Incident) => boolean;
  /** How many messages of one channel are on their way at the same time. */
  readonly concurrency?: number;
  /** How long one attempt may take over all. */
  readonly attemptMs?: number;
  /** Told about every settlement, for metrics. */
  readonly onSettled?: (settled: Settled) => void;
}

/** Sends what the store has pending. Nothing in it rejects: what goes wrong is logged and tried again. */
export interface Outbox {
  /** Tries everything pending at once, whatever its next attempt says, and goes on from there. */
  start(): void;
  /** Looks at the store at once: for whoever has just committed a delivery. */
  wake(): void;
  /** Resolves once everything that may go now was tried, or the signal is aborted. */
  drain(signal: AbortSignal): Promise<void>;
  /** Milliseconds since it last looked at the store; 0 before it was started. */
  ageMs(): number;
  /** For how many milliseconds a channel has refused everything; 0 where each that was tried took something since. */
  refusedMs(): number;
  /** Aborts what is on its way, which stays pending, and resolves when nothing is left running. */
  stop(): Promise<void>;
}

const batch = 10_000;
// While messages are on their way the earliest due time is theirs, so the store has to be asked for the next one.
const busyNapMs = 5_000;
const longestNapMs = 60_000;
const shortestNapMs = 100;
const clockStepMs = 1_000;
const memoryMs = 86_400_000;

/**
 * The loop:
 *  1. Write down settlements that the store refused before.
 *  2. Read what is due into queues, one per channel and recipient.
 *  3. Start a message of each queue that is free and has something to tell by now, as many as the channel may have on their way.
 *  4. Note which deliveries a message tells, then send it.
 *  5. Settle them when its channel answers, and start the next.
 *  6. Sleep until woken, or until the next message may go.
 */
export function createOutbox(options: OutboxOptions): Outbox {
  const { store, clock, random, log, linkTo, policyOf = () => plainPolicy } = options;
  const channels = new Map(options.channels.map((channel) => [channel.name, channel]));
  const queues = createRecipientQueues({ clock, concurrency: options.concurrency ?? 4, policyOf });
  const settlements = createSettlements(options);
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  const idle = new EventTarget();
  const overdue = new Set<number>();
  const refusedSince = new Map<string, number>();
  let nap: Disposable | null = null;
  let wallAhead = clock.now() - clock.elapsed();
  let isEverythingDue = true;
  let isStarted = false;
  let isRemembered = false;
  let lookedAt = 0;

  function pass(): void {
    if (!isStarted || stopping.signal.aborted) return;
    lookedAt = clock.elapsed();
    let napMs = busyNapMs;
    try {
      settlements.storeUnstored();
      remember();
      queues.fill(readDue());
      startSending();
      if (running.size === 0 && !settlements.hasUnstored) napMs = untilNext();
    } catch (error) {
      log.error({ err: error }, 'the outbox cannot read its deliveries, it will try again');
    }
    nap?.[Symbol.dispose]();
    nap = clock.after(napMs, pass);
    if (running.size === 0) idle.dispatchEvent(new Event('idle'));
  }

  // What went out before a restart counts as well.
  function remember(): void {
    if (isRemembered) return;
    const now = clock.now();
    for (const { kind, severity, at, ...address } of store.sentMessages(now - memoryMs)) {
      queues.remember(address, sortOf(kind, severity), now - at);
    }
    isRemembered = true;
  }

  // Where the wall clock was set back, due times lie too late by as much; over a restart nobody knows how much. So each waiting
  // delivery is then tried once at once, except for reminders that were never due.
  function readDue(): readonly PendingDelivery[] {
    const ahead = clock.now() - clock.elapsed();
    if (ahead < wallAhead - clockStepMs) isEverythingDue = true;
    wallAhead = ahead;
    const now = clock.now();
    const settled = settlements.settledIds();
    const horizon = isEverythingDue || overdue.size > 0 ? Number.MAX_SAFE_INTEGER : now;
    const rows = store.dueDeliveries(horizon, batch).filter((row) => !settled.has(row.delivery.id) && !isHeld(row));
    if (isEverythingDue) {
      for (const { delivery } of rows)
        if (delivery.kind !== 'reminder' || delivery.attempts > 0) overdue.add(delivery.id);
    }
    isEverythingDue = false;
    return rows.map((row) => (overdue.has(row.delivery.id) ? dueAt(row, now) : row));
  }

  // A reminder waits while somebody wants silence; one that was on its way before is repeated as it was.
  function isHeld({ delivery, incident, message }: PendingDelivery): boolean {
    if (delivery.kind !== 'reminder' || message !== null || incident.endedAt !== null) return false;
    return options.isSilenced?.(incident) ?? false;
  }

  function untilNext(): number {
    const now = clock.now();
    const next = Math.min(store.nextDeliveryAt(now) ?? Number.POSITIVE_INFINITY, queues.nextAt());
    return Math.min(Math.max(next - now, shortestNapMs), longestNapMs);
  }

  function startSending(): boolean {
    let started = false;
    for (let dispatch = queues.take(); dispatch !== null; dispatch = queues.take()) {
      const task = serve(dispatch);
      running.add(task);
      void task.finally(() => running.delete(task)).then(afterSending);
      started = true;
    }
    return started;
  }

  function afterSending(): void {
    if (stopping.signal.aborted) return;
    if (!startSending()) pass();
  }

  async function serve({ next, policy, ...address }: Dispatch): Promise<void> {
    try {
      const deliveries = next.kind === 'drop' ? next.rows.map(({ delivery }) => delivery) : next.parts.flatMap(allOf);
      for (const { id } of deliveries) overdue.delete(id);
      const channel = channels.get(address.channel);
      if (next.kind === 'drop') settlements.settle(mergedEntries(deliveries, null, clock.now()));
      else if (channel === undefined) giveUp(deliveries, `no channel "${address.channel}" is configured`);
      else {
        const message = compose(next.parts, policy, next.message);
        if (message === null) return;
        if (next.message === null) settlements.claim(message.id, deliveries);
        const attempt = { clock, log, attemptMs: options.attemptMs ?? 60_000, signal: stopping.signal };
        const receipt = await attemptToSend(channel, message, address.recipient, attempt);
        conclude({ address, policy, parts: next.parts, deliveries, message, isRepeat: next.message !== null }, receipt);
      }
    } finally {
      queues.release(address);
    }
  }

  // Fails only by a defect of our own, and then neither loses the deliveries nor tries them in a tight loop.
  function compose(parts: MessageParts, { zone }: DeliveryPolicy, chosenId: string | null): Message | null {
    try {
      return composeMessage(parts, { zone, linkTo }, chosenId);
    } catch (error) {
      log.error({ err: error, incident: parts[0].incident.id }, 'a message could not be composed');
      tryLater(parts.flatMap(allOf), { reason: messageOf(error), askedMs: undefined, message: chosenId });
      return null;
    }
  }

  function conclude({ address, policy, parts, deliveries, message, isRepeat }: Sending, receipt: Receipt): void {
    const { id, kind } = message;
    switch (receipt.kind) {
      case 'delivered': {
        refusedSince.delete(address.channel);
        const incidents = parts.map(({ incident }) => incident.id);
        log.info({ incidents, kind, ...address, message: id, response: receipt.response }, 'delivered');
        queues.remember(address, kind === 'digest' ? kind : sortOf(parts[0].kind, parts[0].incident.severity), 0);
        return settlements.settle(sentEntries(parts, id, policy, clock.now()));
      }
      case 'rejected':
        return giveUp(deliveries, receipt.reason);
      case 'retry': {
        // An attempt that we broke off ourselves says nothing about the other side: it stays due.
        if (stopping.signal.aborted) return;
        if (!refusedSince.has(address.channel)) refusedSince.set(address.channel, clock.elapsed());
        // That a repeat did not arrive says nothing about the first.
        const chosen = isRepeat || receipt.isUncertain === true ? id : null;
        return tryLater(deliveries, { reason: receipt.reason, askedMs: receipt.afterMs, message: chosen });
      }
    }
  }

  function tryLater(deliveries: readonly Delivery[], failure: Failure): void {
    const { waitMs, retried, hopeless } = failedEntries(deliveries, failure, random, clock.now());
    giveUp(hopeless, failure.reason);
    for (const { delivery } of retried)
      log.warn({ ...aboutDelivery(delivery), waitMs }, `not delivered yet: ${failure.reason}`);
    settlements.settle(retried);
  }

  function giveUp(deliveries: readonly Delivery[], reason: string): void {
    for (const delivery of deliveries) log.error(aboutDelivery(delivery), `given up: ${reason}`);
    settlements.settle(deadEntries(deliveries, reason, clock.now()));
  }

  return {
    start() {
      isStarted = true;
      pass();
    },
    wake: pass,
    refusedMs: () => Math.max(0, ...[...refusedSince.values()].map((since) => clock.elapsed() - since)),
    ageMs: () => (isStarted ? clock.elapsed() - lookedAt : 0),
    async drain(signal) {
      if (!isStarted || stopping.signal.aborted || signal.aborted) return;
      const done = Promise.withResolvers<void>();
      const onEnd = () => done.resolve();
      idle.addEventListener('idle', onEnd, { once: true });
      signal.addEventListener('abort', onEnd, { once: true });
      pass();
      await done.promise;
      idle.removeEventListener('idle', onEnd);
      signal.removeEventListener('abort', onEnd);
    },
    async stop() {
      stopping.abort(new Error('the outbox stops'));
      nap?.[Symbol.dispose]();
      await Promise.all(running);
      idle.dispatchEvent(new Event('idle'));
    },
  };
}

interface Sending {
  readonly address: Address;
  readonly policy: DeliveryPolicy;
  readonly parts: MessageParts;
  readonly deliveries: readonly Delivery[];
  readonly message: Message;
  /** Whether it may have arrived before. */
  readonly isRepeat: boolean;
}

const allOf = ({ sent, merged }: MessageParts[number]) => [sent, ...merged];

const dueAt = (row: PendingDelivery, now: number): PendingDelivery => ({
  ...row,
  delivery: { ...row.delivery, nextAttemptAt: Math.min(row.delivery.nextAttemptAt, now) },
});

function aboutDelivery({ id, incidentId: incident, kind, channel, recipient, attempts }: Delivery): object {
  return { delivery: id, incident, kind, channel, recipient, attempts: attempts + 1 };
}
