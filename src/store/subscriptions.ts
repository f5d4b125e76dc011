import { z } from 'zod';
import type {
  AnnouncedEvent,
  Subscriber,
  SubscriptionMail,
  SubscriptionNews,
  SubscriptionStore,
  SubscriptionWrite,
} from '#subscriptions/subscription-store.ts';
import { asc, type BetterSQLite3Database, eq, inArray, lt, lte } from './drizzle.ts';
import type { OpenDatabase } from './open.ts';
import { subscribers, subscriptionEvents, subscriptionMails } from './schema.ts';

export interface SubscriptionStoreOptions {
  readonly file: Pick<OpenDatabase, 'raw' | 'drizzle' | 'waitForDisk'>;
  readonly guard: <Result>(action: () => Result) => Result;
  /** Writes through the log that several hubs share; null if there is one hub. */
  readonly sharing: { write(write: { readonly kind: 'subscription'; readonly write: SubscriptionWrite }): void } | null;
}

export function createSubscriptionStore({ file, guard, sharing }: SubscriptionStoreOptions): SubscriptionStore {
  const { drizzle: database } = file;
  return {
    subscribers: (page) => guard(() => readSubscribers(database, page)),
    subscriber: (id) => guard(() => database.select().from(subscribers).where(eq(subscribers.id, id)).get() ?? null),
    announcedEvents: (page) => guard(() => readEvents(database, page)),
    dueMails: (now, limit) => guard(() => readDueMails(database, now, limit)),
    writeSubscription: (write) =>
      guard(() => {
        if (sharing !== null) return sharing.write({ kind: 'subscription', write });
        file.waitForDisk(true);
        file.raw.transaction(() => applySubscription(database, write)).immediate();
      }),
  };
}

function readSubscribers(database: BetterSQLite3Database, page: string | undefined): readonly Subscriber[] {
  const ofPage = page === undefined ? undefined : eq(subscribers.page, page);
  return database.select().from(subscribers).where(ofPage).orderBy(asc(subscribers.askedAt), asc(subscribers.id)).all();
}

const readEvents = (database: BetterSQLite3Database, page: string): readonly AnnouncedEvent[] =>
  database
    .select()
    .from(subscriptionEvents)
    .where(eq(subscriptionEvents.page, page))
    .orderBy(asc(subscriptionEvents.at), asc(subscriptionEvents.name))
    .all();

function readDueMails(database: BetterSQLite3Database, now: number, limit: number): readonly SubscriptionMail[] {
  const rows = database
    .select()
    .from(subscriptionMails)
    .where(lte(subscriptionMails.nextAttemptAt, now))
    .orderBy(asc(subscriptionMails.nextAttemptAt), asc(subscriptionMails.id))
    .limit(limit);
  return rows.all().map(({ news, ...mail }) => ({ ...mail, news: News.parse(JSON.parse(news)) }));
}

// Written by this program only.
const News = z.array(z.custom<SubscriptionNews>((value) => Kind.safeParse(value).success));
const Kind = z.looseObject({ kind: z.enum(['confirm', 'began', 'ended', 'note']) });

/** Makes a write, inside the transaction of its caller. */
export function applySubscription(database: BetterSQLite3Database, write: SubscriptionWrite): void {
  switch (write.kind) {
    case 'subscriber': {
      const { subscriber } = write;
      database
        .insert(subscribers)
        .values(subscriber)
        .onConflictDoUpdate({ target: subscribers.id, set: subscriber })
        .run();
      return;
    }
    case 'subscribers removed': {
      const ids = [...write.ids];
      database.delete(subscriptionMails).where(inArray(subscriptionMails.subscriber, ids)).run();
      database.delete(subscribers).where(inArray(subscribers.id, ids)).run();
      return;
    }
    case 'mails':
      for (const event of write.events) database.insert(subscriptionEvents).values(event).onConflictDoNothing().run();
      if (write.mails.length > 0) insertMails(database, write.mails);
      return;
    case 'mail retried': {
      const { id, nextAttemptAt, attempts } = write;
      database.update(subscriptionMails).set({ nextAttemptAt, attempts }).where(eq(subscriptionMails.id, id)).run();
      return;
    }
    case 'mail settled':
      database.delete(subscriptionMails).where(eq(subscriptionMails.id, write.id)).run();
      return;
    case 'events forgotten':
      database.delete(subscriptionEvents).where(lt(subscriptionEvents.at, write.before)).run();
  }
}

// Thousands at once stop everything else: in as few statements as SQLite takes values for.
const rowsAtOnce = 1_000;

function insertMails(database: BetterSQLite3Database, mails: readonly SubscriptionMail[]): void {
  // Of several hubs one may have removed the subscriber before this is written.
  const known = new Set(
    database
      .select({ id: subscribers.id })
      .from(subscribers)
      .all()
      .map(({ id }) => id),
  );
  const rows = mails
    .filter(({ subscriber }) => known.has(subscriber))
    .map(({ news, ...mail }) => ({ ...mail, news: JSON.stringify(news) }));
  for (let from = 0; from < rows.length; from += rowsAtOnce)
    database
      .insert(subscriptionMails)
      .values(rows.slice(from, from + rowsAtOnce))
      .onConflictDoNothing()
      .run();
}
