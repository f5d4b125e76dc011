import type { BudgetLeft } from '#history/reader.ts';
import type { Clock } from '#kernel/clock.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import type { Random } from '#kernel/random.ts';
import { dayMs } from '#kernel/units.ts';
import type { RecipientAddress, Incident, VoteLine } from '../judge/incident.ts';
import type { Channel } from './channel.ts';
import type { ContentOptions } from './content.ts';
import { type DeliveryPolicy, plainPolicy } from './delivery-policy.ts';
import type { DeliveryStore } from './delivery-store.ts';
import { createDueDeliveries } from './due-deliveries.ts';
import { sortOfMessage } from './next-message.ts';
import { createPacedAction } from './paced-action.ts';
import { type QueueAddress, createRecipientQueues, keyOf, type RecipientQueues } from './recipient-queues.ts';
import { createRefusals, type Refusals } from './refusals.ts';
import { createRequestedPauses } from './requested-pauses.ts';
import { createSender } from './sender.ts';
import { createDeliveryOutcomes, type DeliveryEvent } from './delivery-outcomes.ts';

export type { DeliveryEvent } from './delivery-outcomes.ts';

export interface OutboxOptions {
  readonly store: Pick<DeliveryStore, 'dueDeliveries' | 'nextDeliveryAt' | 'claim' | 'storeOutcomes' | 'sentMessages'>;
  readonly channels: readonly Channel[];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** The delivery policy of a recipient. */
  readonly policyOf?: (address: QueueAddress) => DeliveryPolicy;
  /** Other ways to the same people, which are used at once if one does not accept a message. */
  readonly othersOf?: (address: QueueAddress) => readonly QueueAddress[];
  /** The page about an incident, if there is one. */
  readonly linkTo: (incident: Incident) => string | null;
  /** The acknowledgement page of an incident, if there is one. */
  readonly acknowledgeAt?: ((incident: Incident, to: RecipientAddress) => string | null) | undefined;
  /** The acknowledgement page of all incidents of a message, if there is one. */
  readonly acknowledgeAllAt?: ((message: string, to: RecipientAddress) => string | null) | undefined;
  /** The votes of the last round of an open incident's target, if they are known. */
  readonly seenNow?: (incident: Incident) => readonly VoteLine[] | null;
  /** What evidence says of the cause of an incident, in sentences. */
  readonly evidenceOf?: ContentOptions['evidenceOf'];
  readonly hubRemark?: ContentOptions['hubRemark'];
  /** What is left of the budget of an incident's target, if it has an objective. */
  readonly budgetOf?: (incident: Incident) => BudgetLeft | null;
  /** Distinguishes the messages of this installation from those of others that watch the same names. Default: none. */
  readonly identity?: string;
  /** Whether reminders of an incident are suppressed for now. */
  readonly isSilenced?: (incident: Incident) => boolean;
  /** How many messages of one channel are on their way at the same time. */
  readonly concurrency?: number;
  /** Called with every delivery outcome, for metrics. */
  readonly onSettled?: (settled: DeliveryEvent) => void;
}

/** Sends what the store has pending. Nothing in it rejects: what goes wrong is logged and tried again. */
export interface Outbox {
  /** Tries everything pending at once, whatever its next attempt says, and goes on from there. */
  start(): void;
  /**
   * Reads the store: to be called after a delivery was committed. At once, unless reading it took long just before: with thousands of
   * pending deliveries the calls of two seconds share one.
   */
  wake(): void;
  /** These addresses lead to another server by now, which is called at once for what the one before put off. */
  readdressed(addresses: readonly QueueAddress[]): void;
  /** Resolves once everything that may go now was tried, or the signal is aborted. */
  drain(signal: AbortSignal): Promise<void>;
  /** Milliseconds since the store was last read; 0 before the start. */
  ageMs(): number;
  /** For how many milliseconds no recipient of a delivery could be reached; 0 if one could. */
  refusedMs(): number;
  /** Whether attempts fail that did not before, and no answer came within so many milliseconds: then we may be cut off. */
  isCutOff(withinMs: number): boolean;
  /** Aborts what is on its way, which stays pending, and resolves when nothing is left running. */
  stop(): Promise<void>;
}

// While messages are on their way the earliest due time is theirs, so the store has to be asked for the next one.
const busyNapMs = 5_000;
const longestNapMs = 60_000;
const shortestNapMs = 100;
const memoryMs = dayMs;

/**
 * The loop:
 *  1. Write outcomes that the store refused before.
 *  2. Read what is due into queues, one per channel and recipient.
 *  3. Start a message of each queue that is free and has deliveries due, as many as the channel may have on their way.
 *  4. Note which deliveries a message tells, then send it.
 *  5. Settle them when its channel answers, and start the next.
 *  6. Sleep until woken, or until the next message may go.
 */
export function createOutbox(options: OutboxOptions): Outbox {
  const { store, clock, log, policyOf = () => plainPolicy } = options;
  const stopping = new AbortController();
  const pauses = createRequestedPauses(clock);
  const queues = createRecipientQueues({ clock, concurrency: options.concurrency ?? 4, policyOf, pauseOf: pauses.of });
  const outcomes = createDeliveryOutcomes(options);
  const due = createDueDeliveries({ ...options, outcomes });
  const refusals = createRefusals(clock, log);
  const send = createSender({
    ...options,
    identity: options.identity ?? '',
    content: contentOptionsOf(options),
    queues,
    pauses,
    outcomes,
    due,
    refusals,
    signal: stopping.signal,
  });
  const complaint = createComplaint(log);
  const running = new Set<Promise<void>>();
  const idle = new EventTarget();
  const passes = createPacedAction(clock, pass);
  let isStarted = false;
  let isRemembered = false;
  let lookedAt = 0;

  const isRunning = () => isStarted && !stopping.signal.aborted;

  function pass(): number {
    lookedAt = clock.elapsed();
    let napMs = busyNapMs;
    try {
      outcomes.storeUnstored();
      remember();
      const readAt = clock.now();
      queues.fill(due.read(readAt));
      startSending();
      if (running.size === 0 && !outcomes.hasUnstored) napMs = untilNext(readAt);
      if (isRemembered) complaint.over();
    } catch (error) {
      complaint.report(error);
    }
    if (running.size === 0) idle.dispatchEvent(new Event('idle'));
    return napMs;
  }

  // What went out before a restart counts as well. If that cannot be read, what is in memory goes out nevertheless.
  function remember(): void {
    if (isRemembered) return;
    try {
      rememberSent(options, queues, refusals);
      isRemembered = true;
    } catch (error) {
      complaint.report(error);
    }
  }

  // What has become due since it was read was not read.
  function untilNext(readAt: number): number {
    const next = Math.min(store.nextDeliveryAt(readAt) ?? Number.POSITIVE_INFINITY, queues.nextAt());
    return Math.min(Math.max(next - clock.now(), shortestNapMs), longestNapMs);
  }

  function startSending(): boolean {
    let started = false;
    for (let dispatch = queues.take(); dispatch !== null; dispatch = queues.take()) {
      const task = send(dispatch);
      running.add(task);
      void task.finally(() => running.delete(task)).then(afterSending);
      started = true;
    }
    return started;
  }

  function afterSending(): void {
    if (isRunning() && (!startSending() || due.isOutdated)) passes.soon();
  }

  return {
    start() {
      isStarted = true;
      if (isRunning()) passes.now();
    },
    wake() {
      if (isRunning()) passes.soon();
    },
    readdressed(addresses) {
      pauses.end(addresses);
      due.readdress(addresses);
      if (isRunning()) passes.soon();
    },
    refusedMs: () => refusals.ms(),
    isCutOff: (withinMs) => refusals.isCutOff(withinMs),
    ageMs: () => (isStarted ? clock.elapsed() - lookedAt : 0),
    async drain(signal) {
      if (!isRunning() || signal.aborted) return;
      const isIdle = nextIdle(idle, signal);
      passes.now();
      await isIdle;
    },
    async stop() {
      stopping.abort(new Error('the outbox is stopping'));
      passes[Symbol.dispose]();
      await Promise.all(running);
      idle.dispatchEvent(new Event('idle'));
    },
  };
}

async function nextIdle(idle: EventTarget, signal: AbortSignal): Promise<void> {
  const done = Promise.withResolvers<void>();
  const onEnd = () => done.resolve();
  idle.addEventListener('idle', onEnd, { once: true });
  signal.addEventListener('abort', onEnd, { once: true });
  await done.promise;
  idle.removeEventListener('idle', onEnd);
  signal.removeEventListener('abort', onEnd);
}

function contentOptionsOf(options: OutboxOptions): Omit<ContentOptions, 'zone'> {
  const { linkTo, seenNow, evidenceOf, budgetOf, hubRemark, acknowledgeAt, acknowledgeAllAt } = options;
  return { linkTo, seenNow, evidenceOf, budgetOf, hubRemark, acknowledgeAt, acknowledgeAllAt };
}

function rememberSent(
  { store, clock }: OutboxOptions,
  queues: Pick<RecipientQueues, 'remember'>,
  refusals: Pick<Refusals, 'reached'>,
): void {
  const now = clock.now();
  for (const { kind, severity, at, ...address } of store.sentMessages(now - memoryMs)) {
    queues.remember(address, { sort: sortOfMessage(kind, severity), severity }, now - at);
    refusals.reached(keyOf(address), now - at);
  }
}

// It is read every few seconds, and a database that cannot be read stays so for long.
function createComplaint(log: Log) {
  let last = '';
  return {
    report(error: unknown): void {
      if (last !== messageOf(error)) log.error({ err: error }, 'cannot read pending deliveries; retrying');
      last = messageOf(error);
    },
    over(): void {
      last = '';
    },
  };
}
