import type { Clock } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import { onTick } from '#kernel/ticks.ts';
import { dayMs } from '#kernel/units.ts';
import type { SubscriptionMail, SubscriptionNews, SubscriptionStore } from './subscription-store.ts';

/** An event of a status page that its subscribers get a mail about. */
export interface PageEvent {
  /** Names it for good. */
  readonly name: string;
  readonly at: number;
  readonly news: SubscriptionNews;
}

export interface PageNewsOptions {
  readonly store: SubscriptionStore;
  /** The pages that people can subscribe to. */
  readonly pages: () => readonly string[];
  /** What has happened on a page since a moment, the oldest first. */
  readonly eventsSince: (page: string, since: number) => Promise<readonly PageEvent[]>;
  /** Another number after something was written that may be an event: while it stays, nothing is read. */
  readonly version: () => number;
  /** Called when mails wait to be sent. */
  readonly wake: () => void;
  readonly removeExpired: () => void;
  /** Whether this process may write them at this moment. */
  readonly mayWrite: () => boolean;
  /** The time that what is stored is deleted by: a clock that is ahead for a while does not hasten it. */
  readonly deletionNow: () => number;
  readonly clock: Clock;
  readonly log: Log;
}

const lookMs = 5_000;
const cleanMs = 60_000;
// Outages that begin together, and one that is over at once, are one mail. So is what happens within five minutes of a mail.
const togetherMs = 30_000;
const betweenMs = 5 * 60_000;
// What is older is no news, such as after a day without this program.
const newsMs = dayMs;
// What several hubs share is written in records, which have to fit into a message of NATS.
const mailsAtOnce = 1_000;

/**
 * Writes mails about what happens on status pages. Which events have mails is stored in one transaction with them, so each event
 * is in one mail to each subscriber, also after a crash; of a page with more than a thousand subscribers, with the last of them.
 */
export function startPageNews(options: PageNewsOptions): AsyncDisposable {
  const { store, pages, version, eventsSince, wake, removeExpired, mayWrite, deletionNow, clock, log } = options;
  // What several hubs share is written a moment later.
  const here = new Map<string, number>();
  const writtenAt = new Map<string, number>();
  // The version of the store at which every event of a page had its mails.
  const settledAt = new Map<string, number>();
  let cleanedAt = Number.NEGATIVE_INFINITY;
  let isStopped = false;
  let timer: Disposable | null = null;
  let looking = Promise.resolve();

  /** Whether nothing waits to be announced. */
  async function announce(page: string): Promise<boolean> {
    const now = clock.now();
    const subscribers = store.subscribers(page).filter(({ confirmedAt }) => confirmedAt !== null);
    if (subscribers.length === 0) return true;
    const before = store.announcedEvents(page);
    for (const { name, at } of before) here.set(`${page} ${name}`, at);
    const known = (name: string) => here.has(`${page} ${name}`);
    const happened = await eventsSince(page, now - newsMs);
    const events = happened.filter(({ name }) => !known(name));
    if (isStopped || events.length === 0) return true;
    const first = Math.min(...events.map(({ at }) => at));
    const last = Math.max(0, ...before.map(({ at }) => at), writtenAt.get(page) ?? 0);
    const isFresh = (at: number, ms: number) => at <= now && now - at < ms;
    if (isFresh(first, togetherMs) || isFresh(last, betweenMs)) return false;
    const mails = subscribers.flatMap(({ id, confirmedAt }): readonly SubscriptionMail[] => {
      const news = newsOf(events.filter(({ at }) => at >= (confirmedAt ?? 0)));
      if (news.length === 0) return [];
      const mail = { id: `news-${id}-${now}`, subscriber: id, news };
      return [{ ...mail, createdAt: now, nextAttemptAt: now, attempts: 0 }];
    });
    // The events come last: without them the rest is written anew.
    let from = 0;
    for (; mails.length - from > mailsAtOnce; from += mailsAtOnce)
      store.writeSubscription({ kind: 'mails', events: [], mails: mails.slice(from, from + mailsAtOnce) });
    const announced = events.map(({ name }) => ({ page, name, at: now }));
    store.writeSubscription({ kind: 'mails', events: announced, mails: mails.slice(from) });
    for (const { name } of events) here.set(`${page} ${name}`, now);
    if (mails.length > 0) writtenAt.set(page, now);
    if (mails.length > 0) log.info({ page, mails: mails.length, events: events.length }, 'wrote mails to subscribers');
    wake();
    return true;
  }

  async function announceAll(): Promise<void> {
    // Before the events are read: what is written meanwhile is read the next time.
    const now = version();
    for (const page of pages()) if (settledAt.get(page) !== now && (await announce(page))) settledAt.set(page, now);
  }

  function clean(): void {
    if (clock.elapsed() - cleanedAt < cleanMs) return;
    cleanedAt = clock.elapsed();
    removeExpired();
  }

  function forget(before: number): void {
    const old = [...here].filter(([, at]) => at < before);
    for (const [name] of old) here.delete(name);
    if (old.length > 0) store.writeSubscription({ kind: 'events forgotten', before });
  }

  async function look(): Promise<void> {
    try {
      if (mayWrite()) {
        clean();
        await announceAll();
      }
      forget(deletionNow() - 2 * newsMs);
    } catch (error) {
      log.error({ err: error }, 'cannot write mails to subscribers; retrying');
    }
    if (!isStopped) timer = onTick(clock, lookMs, next);
  }

  function next(): void {
    looking = look();
  }

  next();
  return {
    async [Symbol.asyncDispose]() {
      isStopped = true;
      timer?.[Symbol.dispose]();
      await looking;
    },
  };
}

/** What a mail about these events says: an incident that began and ended meanwhile is over. */
function newsOf(events: readonly PageEvent[]): readonly SubscriptionNews[] {
  const news = events.map((event) => event.news);
  const isOver = (one: SubscriptionNews) =>
    one.kind === 'began' &&
    news.some((other) => other.kind === 'ended' && other.service === one.service && other.from === one.from);
  return news.filter((one) => !isOver(one));
}
