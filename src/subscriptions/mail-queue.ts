import { type Clock, deadline } from '#kernel/clock.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import type { Random } from '#kernel/random.ts';
import { onTick } from '#kernel/ticks.ts';
import { dayMs } from '#kernel/units.ts';
import { backoffMs } from '#monitor/notify/backoff.ts';
import type { DeliveryReceipt } from '#monitor/notify/channel.ts';
import type { PlainMail } from './subscriber-mail.ts';
import type { Subscriber, SubscriptionMail, SubscriptionStore } from './subscription-store.ts';

export interface MailQueueOptions {
  readonly store: Pick<SubscriptionStore, 'dueMails' | 'subscriber' | 'writeSubscription'>;
  /** The mail as it is sent; null if its page takes no subscriptions any more. */
  readonly compose: (mail: SubscriptionMail, subscriber: Subscriber) => PlainMail | null;
  readonly send: (mail: PlainMail, recipient: string, signal: AbortSignal) => Promise<DeliveryReceipt>;
  /** Whether this process may send at this moment. */
  readonly maySend: () => boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** Sends the mails to subscribers that the store has: each until the server takes it, also after a restart. */
export interface MailQueue extends AsyncDisposable {
  /** Looks at once. */
  wake(): void;
}

const lookMs = 5_000;
const attemptMs = 10 * 60_000;
const soonMs = 100;
const atOnce = 4;
const patienceMs = 2 * dayMs;
// So that a clock that was set forward gives up nothing.
const patienceAttempts = 20;
const clockStepMs = 1_000;
const mostEarly = 10_000;

export function startMailQueue(options: MailQueueOptions): MailQueue {
  const { store, compose, send, maySend, clock, random, log } = options;
  const stopping = new AbortController();
  const running = new Map<string, Promise<void>>();
  // What several hubs share is written a moment later.
  const over = new Set<string>();
  // Those of which the store does not know it yet, because it refused to write.
  const unwritten = new Set<string>();
  // Until when a mail rests that failed without a trace in the store, by the monotonic clock.
  const resting = new Map<string, number>();
  const early = createEarlyMails(store, clock);
  let timer: Disposable | null = null;

  function settle(id: string): void {
    over.add(id);
    unwritten.add(id);
    store.writeSubscription({ kind: 'mail settled', id });
    unwritten.delete(id);
  }

  function settleUnwritten(): void {
    try {
      for (const id of unwritten) settle(id);
    } catch (error) {
      log.warn({ reason: messageOf(error), mails: unwritten.size }, 'cannot note that mails were sent; retrying');
    }
  }

  async function attempt(mail: SubscriptionMail): Promise<void> {
    const subscriber = store.subscriber(mail.subscriber);
    const composed = subscriber === null ? null : compose(mail, subscriber);
    if (subscriber === null || composed === null) return settle(mail.id);
    using limit = deadline(clock, attemptMs, stopping.signal);
    const receipt = await send(composed, subscriber.address, limit.signal);
    const shown = { mail: mail.id, page: subscriber.page, subscriber: subscriber.id };
    if (receipt.kind === 'delivered') {
      log.info({ ...shown, response: receipt.response }, 'sent a mail to a subscriber');
      return settle(mail.id);
    }
    if (stopping.signal.aborted) return;
    const { reason } = receipt;
    const isOld = clock.now() - mail.createdAt > patienceMs && mail.attempts >= patienceAttempts;
    if (receipt.kind === 'rejected' || isOld) {
      log.warn({ ...shown, reason }, 'given up a mail to a subscriber');
      return settle(mail.id);
    }
    log.warn({ ...shown, reason }, 'cannot send a mail to a subscriber; retrying');
    const least = receipt.atLeastMs ?? 0;
    const waitMs = Math.max(least, backoffMs(mail.attempts, random, receipt.afterMs));
    const next = { nextAttemptAt: clock.now() + waitMs, attempts: mail.attempts + 1 };
    store.writeSubscription({ kind: 'mail retried', id: mail.id, ...next });
  }

  function start(mail: SubscriptionMail): void {
    early.started(mail.id);
    const task = attempt(mail)
      .catch((error: unknown) => {
        resting.set(mail.id, clock.elapsed() + lookMs);
        log.error({ err: error, mail: mail.id }, 'cannot send a mail to a subscriber; retrying');
      })
      .finally(() => running.delete(mail.id));
    running.set(mail.id, task);
    void task.then(() => schedule(soonMs));
  }

  function look(): void {
    timer = null;
    if (stopping.signal.aborted) return;
    settleUnwritten();
    for (const [id, until] of resting) if (until <= clock.elapsed()) resting.delete(id);
    try {
      const due = maySend() ? early.read(2 * atOnce + over.size + resting.size) : [];
      for (const id of over) if (!due.some((mail) => mail.id === id)) over.delete(id);
      for (const mail of due) {
        if (running.size >= atOnce) break;
        if (!running.has(mail.id) && !over.has(mail.id) && !resting.has(mail.id)) start(mail);
      }
    } catch (error) {
      log.error({ err: error }, 'cannot read mails to subscribers; retrying');
    }
    schedule(lookMs);
  }

  function schedule(ms: number): void {
    if (stopping.signal.aborted) return;
    timer?.[Symbol.dispose]();
    timer = onTick(clock, ms, look);
  }

  schedule(0);
  return {
    wake: () => schedule(0),
    async [Symbol.asyncDispose]() {
      stopping.abort(new Error('mails to subscribers stop'));
      timer?.[Symbol.dispose]();
      await Promise.all(running.values());
    },
  };
}

/** Mails that are due, whatever the clock has done: if it was set back, due times lie too late by as much. */
function createEarlyMails(store: MailQueueOptions['store'], clock: Clock) {
  const early = new Set<string>();
  let tried = 0;
  let wallAhead = Number.POSITIVE_INFINITY;

  // Over a restart it is unknown how the clock was set: then each is tried once at once.
  function noteClock(): void {
    const ahead = clock.now() - clock.elapsed();
    if (ahead < wallAhead - clockStepMs) {
      const waiting = store.dueMails(Number.MAX_SAFE_INTEGER, mostEarly);
      tried = 0;
      for (const { id, nextAttemptAt } of waiting) if (nextAttemptAt > clock.now()) early.add(id);
    }
    wallAhead = ahead;
  }

  return {
    read(most: number): readonly SubscriptionMail[] {
      noteClock();
      const now = clock.now();
      if (early.size === 0) return store.dueMails(now, most);
      // Those that were tried are before them by now.
      const waiting = store.dueMails(Number.MAX_SAFE_INTEGER, most + tried);
      const ids = new Set(waiting.map(({ id }) => id));
      if (waiting.length < most + tried) for (const id of early) if (!ids.has(id)) early.delete(id);
      return waiting.filter(({ id, nextAttemptAt }) => nextAttemptAt <= now || early.has(id));
    },
    started(id: string): void {
      if (early.delete(id)) tried += 1;
    },
  };
}
