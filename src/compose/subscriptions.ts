import { hostname } from 'node:os';
import { createSubscriberMailer } from '#channels/index.ts';
import type { Config } from '#config/config.ts';
import type { Clock } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import type { Random } from '#kernel/random.ts';
import { englishOf, withOwnLanguages } from '#languages/languages.ts';
import { startMailQueue } from '#subscriptions/mail-queue.ts';
import { type PageEvent, startPageNews } from '#subscriptions/page-news.ts';
import { subscriberMail } from '#subscriptions/subscriber-mail.ts';
import { createSubscriptions, type Subscriptions } from '#subscriptions/subscriptions.ts';
import type { Store } from '#store/sqlite.ts';
import { mailPlaceOf } from '#web/pages/status-place.ts';

export interface SubscriptionsOver {
  readonly store: Store;
  readonly inForce: () => Config;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** Mail subscriptions of status pages, and what sends them mails. */
export interface OpenedSubscriptions {
  readonly subscriptions: Subscriptions;
  /** Starts to write and to send mails, whenever this process may. */
  start(mayNotify: () => boolean): AsyncDisposable;
}

export function openSubscriptions({ store, inForce, clock, random, log }: SubscriptionsOver): OpenedSubscriptions {
  let queue: ReturnType<typeof startMailQueue> | null = null;
  const wake = () => queue?.wake();
  const subscriptions = createSubscriptions({ store, clock, random, log, wake });
  const open = () => Object.entries(inForce().pages).flatMap(([name, page]) => (page.subscribe ? [name] : []));

  async function eventsSince(name: string, since: number): Promise<readonly PageEvent[]> {
    const targets = inForce().pages[name]?.targets ?? {};
    const incidents = store
      .incidentsBetween(since, clock.now() + 1)
      .filter(
        ({ target, severity, held }) => Object.hasOwn(targets, target) && severity === 'critical' && held === null,
      );
    const notes = store.notes().filter((note) => note.page === name && note.createdAt >= since);
    return [
      ...incidents.flatMap(({ id, target, startedAt, openedAt, endedAt, closing }): readonly PageEvent[] => {
        const incident = { service: targets[target] ?? target, from: startedAt };
        const began: PageEvent = {
          name: `${id} began`,
          at: openedAt,
          news: { kind: 'began', ...incident, to: null },
        };
        if (endedAt === null) return [began];
        const isClosed = closing !== null && closing !== 'recovered' ? { isClosed: true as const } : {};
        const ended = { kind: 'ended', ...incident, to: endedAt, ...isClosed } as const;
        return [began, { name: `${id} ended`, at: endedAt, news: ended }];
      }),
      ...notes.map(({ id, words, stage, createdAt: at }) => ({
        name: `note ${id}`,
        at,
        news: { kind: 'note', words, stage, at } as const,
      })),
    ]
      .filter(({ at }) => at >= since)
      .toSorted((a, b) => a.at - b.at);
  }

  return {
    subscriptions,
    start(mayNotify) {
      const mailer = createSubscriberMailer({ smtp: () => inForce().sections['smtp'], hostname: hostname(), clock });
      const sending = (queue = startMailQueue({
        store,
        compose(mail, subscriber) {
          const page = inForce().pages[subscriber.page];
          if (page?.subscribe !== true) return null;
          const place = mailPlaceOf(subscriber.page, page.domain, inForce().http.publicUrl);
          const languages = withOwnLanguages(inForce().languages);
          const language = languages.get(subscriber.language) ?? englishOf(languages);
          return subscriberMail(mail, subscriber, { title: page.title, ...place }, language);
        },
        send: mailer,
        maySend: mayNotify,
        clock,
        random,
        log,
      }));
      const news = startPageNews({
        store,
        pages: open,
        eventsSince,
        version: () => store.newsVersion(),
        wake,
        removeExpired: () => subscriptions.removeExpired(),
        mayWrite: mayNotify,
        deletionNow: () => store.deletionNow(),
        clock,
        log,
      });
      return {
        async [Symbol.asyncDispose]() {
          queue = null;
          await Promise.all([news[Symbol.asyncDispose](), sending[Symbol.asyncDispose]()]);
        },
      };
    },
  };
}
