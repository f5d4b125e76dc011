import { type Clock, deadline } from '#kernel/clock.ts';
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

export function startMailQueue(options: MailQueueOptions): MailQueue {
  const { store, compose, send, maySend, clock, random, log } = options;
  const stopping = new AbortController();
  const running = new Map<string, Promise<void>>();
  // What several hubs share is written a moment later.
  const over = new Set<string>();
  let timer: Disposable | null = null;

  function settle(mail: SubscriptionMail): void {
    over.add(mail.id);
    store.writeSubscription({ kind: 'mail settled', id: mail.id });
  }

  async function attempt(mail: SubscriptionMail): Promise<void> {
    const subscriber = store.subscriber(mail.subscriber);
    const composed = subscriber === null ? null : compose(mail, subscriber);
    if (subscriber === null || composed === null) return settle(mail);
    using limit = deadline(clock, attemptMs, stopping.signal);
    const receipt = await send(composed, subscriber.address, limit.signal);
    const shown = { mail: mail.id, page: subscriber.page, subscriber: subscriber.id };
    if (receipt.kind === 'delivered') {
      log.info({ ...shown, response: receipt.response }, 'sent a mail to a subscriber');
      return settle(mail);
    }
    if (stopping.signal.aborted) return;
    const { reason } = receipt;
    if (receipt.kind === 'rejected' || clock.now() - mail.createdAt > patienceMs) {
      log.warn({ ...shown, reason }, 'given up a mail to a subscriber');
      return settle(mail);
    }
    log.warn({ ...shown, reason }, 'cannot send a mail to a subscriber; retrying');
    const least = receipt.atLeastMs ?? 0;
    const waitMs = Math.max(least, backoffMs(mail.attempts, random, receipt.afterMs));
    const next = { nextAttemptAt: clock.now() + waitMs, attempts: mail.attempts + 1 };
    store.writeSubscription({ kind: 'mail retried', id: mail.id, ...next });
  }

  function start(mail: SubscriptionMail): void {
    const task = attempt(mail)
      .catch((error: unknown) =>
        log.error({ err: error, mail: mail.id }, 'cannot send a mail to a subscriber; retrying'),
      )
      .finally(() => running.delete(mail.id));
    running.set(mail.id, task);
    // Not at once: it may have failed without a receipt.
    void task.then(() => schedule(soonMs));
  }

  function look(): void {
    timer = null;
    if (stopping.signal.aborted) return;
    try {
      const due = maySend() ? store.dueMails(clock.now(), 2 * atOnce + over.size) : [];
      for (const id of over) if (!due.some((mail) => mail.id === id)) over.delete(id);
      for (const mail of due) {
        if (running.size >= atOnce) break;
        if (!running.has(mail.id) && !over.has(mail.id)) start(mail);
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
