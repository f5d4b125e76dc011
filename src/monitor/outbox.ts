import type { Clock } from '#kernel/clock.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import type { Random } from '#kernel/random.ts';
import { attemptToSend } from './attempt.ts';
import { backoffMs, isHopeless } from './backoff.ts';
import type { Delivery } from './delivery.ts';
import { createLanes, type Thread } from './lanes.ts';
import { createLedger, type Settled } from './ledger.ts';
import { type Composed, composeMessage } from './message.ts';
import type { Channel, MonitorStore, Receipt } from './ports.ts';
import type { StoryOptions } from './story.ts';

export type { Settled } from './ledger.ts';

export interface OutboxOptions extends StoryOptions {
  readonly store: Pick<MonitorStore, 'dueDeliveries' | 'nextDeliveryAt' | 'settle'>;
  readonly channels: readonly Channel[];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** How many messages of one channel are on their way at the same time. */
  readonly concurrency?: number;
  /** How long one attempt may take over all. */
  readonly attemptMs?: number;
  /** Told about every settlement, for metrics. */
  readonly onSettled?: (settled: Settled) => void;
}

/** Sends what the store has pending. Nothing in it rejects: what goes wrong is logged and tried again. */
export interface Outbox {
  /** Tries everything pending at once, whatever its due time, and goes on from there. */
  start(): void;
  /** Looks at the store at once: for whoever has just committed a delivery. */
  wake(): void;
  /** Resolves once everything that is due was tried, or the signal is aborted. */
  drain(signal: AbortSignal): Promise<void>;
  /** Milliseconds since it last looked at the store; 0 before it was started. */
  ageMs(): number;
  /** Aborts what is on its way, which stays pending, and resolves when nothing is left running. */
  stop(): Promise<void>;
}

const batch = 10_000;
// While messages are on their way the earliest due time is theirs, so the store has to be asked for the next one.
const busyNapMs = 5_000;
const longestNapMs = 60_000;
const shortestNapMs = 100;
const clockStepMs = 1_000;

/**
 * The loop:
 *  1. Write down settlements that the store refused before.
 *  2. Read what is due into lanes, one per channel and recipient.
 *  3. Start a message of each lane that is free, as many as the channel may have on their way.
 *  4. Settle each when its channel answers, and start the next.
 *  5. Sleep until woken, or until the next delivery is due.
 */
export function createOutbox(options: OutboxOptions): Outbox {
  const { store, clock, random, log } = options;
  const channels = new Map(options.channels.map((channel) => [channel.name, channel]));
  const lanes = createLanes(options.concurrency ?? 4);
  const ledger = createLedger(options);
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  const idle = new EventTarget();
  let nap: Disposable | null = null;
  let wallAhead = clock.now() - clock.elapsed();
  let isEverythingDue = true;
  let isStarted = false;
  let lookedAt = 0;

  function pass(): void {
    if (!isStarted || stopping.signal.aborted) return;
    lookedAt = clock.elapsed();
    let napMs = busyNapMs;
    try {
      ledger.payDebts();
      lanes.fill(store.dueDeliveries(horizon(), batch), ledger.settledIds());
      isEverythingDue = false;
      startThreads();
      if (running.size === 0 && !ledger.hasDebts) napMs = untilNext();
    } catch (error) {
      log.error({ err: error }, 'the outbox cannot read its deliveries, it will try again');
    }
    nap?.[Symbol.dispose]();
    nap = clock.after(napMs, pass);
    if (running.size === 0) idle.dispatchEvent(new Event('idle'));
  }

  function untilNext(): number {
    const next = store.nextDeliveryAt();
    return next === null ? longestNapMs : Math.min(Math.max(next - clock.now(), shortestNapMs), longestNapMs);
  }

  // Normally now. Where the wall clock was set back, due times lie too late by as much; over a restart nobody knows how much.
  function horizon(): number {
    const ahead = clock.now() - clock.elapsed();
    if (ahead < wallAhead - clockStepMs) isEverythingDue = true;
    wallAhead = ahead;
    return isEverythingDue ? Number.MAX_SAFE_INTEGER : clock.now();
  }

  function startThreads(): void {
    for (let thread = lanes.take(); thread !== null; thread = lanes.take()) {
      const task = deliver(thread);
      running.add(task);
      void task.finally(() => running.delete(task)).then(afterThread);
    }
  }

  function afterThread(): void {
    if (stopping.signal.aborted) return;
    if (lanes.isEmpty || lanes.hasNews) pass();
    else startThreads();
  }

  async function deliver(thread: Thread): Promise<void> {
    try {
      const channel = channels.get(thread.channel);
      if (channel === undefined) {
        giveUp(thread.deliveries, `no channel "${thread.channel}" is configured`);
        return;
      }
      const composed = compose(thread);
      if (composed === null) return;
      const { message } = composed;
      const attempt = { clock, log, attemptMs: options.attemptMs ?? 60_000, signal: stopping.signal };
      conclude(composed, await attemptToSend(channel, message, thread.recipient, attempt));
    } finally {
      lanes.release(thread);
    }
  }

  // Fails only by a defect of our own, and then neither loses the deliveries nor tries them in a tight loop.
  function compose(thread: Thread): Composed | null {
    try {
      return composeMessage(thread.pending, options);
    } catch (error) {
      log.error({ err: error, incident: thread.pending[0].incident.id }, 'a message could not be composed');
      tryLater(thread.deliveries, messageOf(error));
      return null;
    }
  }

  function conclude({ message, sent, merged }: Composed, receipt: Receipt): void {
    const all = [sent, ...merged];
    switch (receipt.kind) {
      case 'delivered': {
        const { incidentId: incident, channel, recipient } = sent;
        const about = { incident, kind: message.kind, channel, recipient, message: message.id };
        log.info({ ...about, response: receipt.response }, 'delivered');
        return ledger.settleSent(sent, merged);
      }
      case 'rejected':
        return giveUp(all, receipt.reason);
      case 'retry':
        // An attempt that we broke off ourselves says nothing about the other side: it stays due.
        return stopping.signal.aborted ? undefined : tryLater(all, receipt.reason, receipt.afterMs);
    }
  }

  function tryLater(deliveries: readonly Delivery[], reason: string, askedMs?: number): void {
    const now = clock.now();
    const waitMs = backoffMs(Math.max(...deliveries.map(({ attempts }) => attempts)), random, askedMs);
    giveUp(
      deliveries.filter((delivery) => isHopeless(delivery, now)),
      reason,
    );
    for (const delivery of deliveries.filter((one) => !isHopeless(one, now))) {
      log.warn({ ...aboutDelivery(delivery), waitMs }, `not delivered yet: ${reason}`);
      ledger.settleRetry(delivery, now + waitMs, reason);
    }
  }

  function giveUp(deliveries: readonly Delivery[], reason: string): void {
    for (const delivery of deliveries) {
      log.error(aboutDelivery(delivery), `given up: ${reason}`);
      ledger.settleDead(delivery, reason);
    }
  }

  return {
    start() {
      isStarted = true;
      pass();
    },
    wake: pass,
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

function aboutDelivery({ id, incidentId: incident, kind, channel, recipient, attempts }: Delivery): object {
  return { delivery: id, incident, kind, channel, recipient, attempts: attempts + 1 };
}
