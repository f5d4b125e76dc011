import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemRandom } from '#kernel/random.ts';
import type { DeliveryReceipt } from '#monitor/notify/channel.ts';
import type { Store } from '#store/sqlite.ts';
import { startMailQueue } from '#subscriptions/mail-queue.ts';
import { type PageEvent, startPageNews } from '#subscriptions/page-news.ts';
import { createSubscriptions, linkToken } from '#subscriptions/subscriptions.ts';
import type { SubscriptionMail, SubscriptionStore } from '#subscriptions/subscription-store.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { memoryLog } from '../support/memory-log.ts';
import { openAt, opening, round, tempFolder } from '../support/store.ts';

const [minute, hour] = [60_000, 3_600_000];
let folder: ReturnType<typeof tempFolder>;
let clock: FakeClock;
let store: Store;
let events: PageEvent[];

beforeEach(() => {
  folder = tempFolder();
  clock = new FakeClock();
  store = openAt(join(folder.path, 'watchpost.db'), clock);
  events = [];
});
afterEach(async () => {
  await store.close();
  folder[Symbol.dispose]();
});

const open = (log = memoryLog().log) =>
  createSubscriptions({ store, clock, random: systemRandom, log, wake: () => {} });
const ask = (address: string, page = 'status') => open().request({ page, address, language: 'en' });

function confirmed(address: string, page = 'status') {
  ask(address, page);
  const subscriber = store.subscribers(page).find((one) => one.address === address) ?? expect.unreachable();
  const own = store.dueMails(clock.now(), 100).filter((mail) => mail.subscriber === subscriber.id);
  for (const { id } of own) store.writeSubscription({ kind: 'mail settled', id });
  expect(open().follow('confirm', page, linkToken(subscriber, 'confirm'))).toBe(true);
  return subscriber;
}

const news = (over: SubscriptionStore = store) =>
  startPageNews({
    store: over,
    pages: () => ['status'],
    version: () => events.length,
    eventsSince: async (_page, since) => events.filter(({ at }) => at >= since),
    wake: () => {},
    removeExpired: () => open().removeExpired(),
    mayWrite: () => true,
    deletionNow: () => store.deletionNow(),
    clock,
    log: memoryLog().log,
  });

function happened(kind: 'began' | 'ended', service: string, from = clock.now()): void {
  const news =
    kind === 'ended'
      ? ({ kind, service, from, to: clock.now() } as const)
      : ({ kind, service, from, to: null } as const);
  events.push({ name: `${service} ${from} ${kind}`, at: clock.now(), news });
}

const mails = () => store.dueMails(clock.now(), 1_000);
const said = () =>
  mails().map((mail) => mail.news.map((one) => `${one.kind}${'service' in one ? ` ${one.service}` : ''}`));

test('a storm is one mail to each subscriber of the page, and what follows soon is one more', async () => {
  confirmed('ann@example.com');
  confirmed('bob@example.com');
  confirmed('eve@example.com', 'other');
  await clock.advance(minute);
  await using _running = news();
  for (const name of ['a', 'b', 'c']) {
    happened('began', name);
    await clock.advance(5_000);
  }
  expect(mails()).toEqual([]);
  await clock.advance(minute);
  expect(said()).toEqual([
    ['began a', 'began b', 'began c'],
    ['began a', 'began b', 'began c'],
  ]);
  const from = events[0]?.at ?? 0;
  happened('ended', 'a', from);
  happened('began', 'd');
  await clock.advance(2 * minute);
  happened('ended', 'd', clock.now() - 2 * minute);
  await clock.advance(minute);
  expect(mails()).toHaveLength(2);
  await clock.advance(5 * minute);
  // The short one is only said to be over.
  expect(said().slice(2)).toEqual([
    ['ended a', 'ended d'],
    ['ended a', 'ended d'],
  ]);
});

test('an event is written once, also after a restart, and is no news to those who came later', async () => {
  confirmed('ann@example.com');
  await clock.advance(minute);
  happened('began', 'a');
  const first = news();
  await clock.advance(minute);
  await first[Symbol.asyncDispose]();
  confirmed('late@example.com');
  await store.close();
  store = openAt(join(folder.path, 'watchpost.db'), clock);
  await using _again = news();
  await clock.advance(hour);
  expect(said()).toEqual([['began a']]);
  happened('ended', 'a', events[0]?.at);
  await clock.advance(hour);
  expect(said()).toEqual([['began a'], ['ended a'], ['ended a']]);
});

test('an address is asked once in a while, networks and all together have limits, and who does not confirm is removed', async () => {
  for (let one = 0; one < 3; one += 1) ask('ann@example.com');
  ask('ann@example.com', 'other');
  expect(mails()).toHaveLength(1);
  const [pending] = store.subscribers();
  await clock.advance(7 * hour);
  ask('ann@example.com');
  expect([mails().length, store.subscribers().length]).toEqual([2, 1]);
  // The link of the first mail is of the past.
  expect(open().isValid('confirm', 'status', linkToken(pending ?? expect.unreachable(), 'confirm'))).toBe(false);
  for (let one = 0; one < 300; one += 1) ask(`a${one}@example.com`);
  expect(store.subscribers()).toHaveLength(200);
  const limited = open();
  const answers = [
    '192.0.2.1',
    '192.0.2.1',
    '192.0.2.1',
    '192.0.2.1',
    '192.0.2.1',
    '192.0.2.1',
    '192.0.2.2',
    '2001:db8::1',
  ];
  expect(answers.map((from) => limited.admits(from))).toEqual([true, true, true, true, true, false, true, true]);
  await clock.advance(25 * hour);
  open().removeExpired();
  expect([store.subscribers(), mails()]).toEqual([[], []]);
});

test('what the server does not take is tried again, what it refuses is not, and what a subscriber who has left waits for is dropped', async () => {
  const ann = confirmed('ann@example.com');
  const due = { createdAt: clock.now(), nextAttemptAt: clock.now(), attempts: 0 };
  const mail = (id: string): SubscriptionMail => ({ ...due, id, subscriber: ann.id, news: [{ kind: 'confirm' }] });
  store.writeSubscription({ kind: 'mails', events: [], mails: ['once', 'refused', 'later'].map(mail) });
  const tries: string[] = [];
  const receipts = new Map<string, DeliveryReceipt>([
    ['refused', { kind: 'rejected', reason: '550 no' }],
    ['later', { kind: 'retry', reason: 'no route' }],
  ]);
  await using queue = startMailQueue({
    store,
    compose: ({ id }) => ({ id, at: 0, subject: '', text: '', headers: {} }),
    async send({ id }) {
      tries.push(id);
      return receipts.get(id) ?? { kind: 'delivered', response: '250' };
    },
    maySend: () => true,
    clock,
    random: systemRandom,
    log: memoryLog().log,
  });
  await clock.advance(1_000);
  expect(tries.toSorted()).toEqual(['later', 'once', 'refused']);
  expect(store.dueMails(clock.now() + hour, 10)).toMatchObject([{ id: 'later', attempts: 1 }]);
  await clock.advance(20_000);
  expect(tries.filter((one) => one === 'later').length).toBeGreaterThan(1);
  receipts.delete('later');
  await clock.advance(10 * minute);
  expect(store.dueMails(clock.now() + hour, 10)).toEqual([]);
  store.writeSubscription({ kind: 'mails', events: [], mails: [mail('gone')] });
  open().remove('ann@example.com');
  queue.wake();
  await clock.advance(minute);
  expect(tries).not.toContain('gone');
});

/** A queue over a store that refuses these writes while `isFull` says so. */
function sendOver(isFull: (kind: string) => boolean, answer: () => DeliveryReceipt) {
  const tries: string[] = [];
  const queue = startMailQueue({
    store: {
      dueMails: (...asked) => store.dueMails(...asked),
      subscriber: (id) => store.subscriber(id),
      writeSubscription(write) {
        if (isFull(write.kind)) throw new Error('the disk is full');
        store.writeSubscription(write);
      },
    },
    compose: ({ id, news: said }) => ({
      id,
      at: 0,
      subject: said.map((one) => ('service' in one ? one.service : id)).join(', '),
      text: '',
      headers: {},
    }),
    async send({ subject }) {
      tries.push(subject);
      return answer();
    },
    maySend: () => true,
    clock,
    random: systemRandom,
    log: memoryLog().log,
  });
  return { tries, queue };
}

const taken = (): DeliveryReceipt => ({ kind: 'delivered', response: '250' });
const notTaken = (): DeliveryReceipt => ({ kind: 'retry', reason: '451 later' });

function mailTo(address: string, id: string): void {
  const { id: subscriber } = confirmed(address);
  const due = { createdAt: clock.now(), nextAttemptAt: clock.now(), attempts: 0 };
  store.writeSubscription({
    kind: 'mails',
    events: [],
    mails: [{ id, subscriber, news: [{ kind: 'confirm' }], ...due }],
  });
}

test('a mail that was sent while nothing could be written is not sent again by the next start', async () => {
  mailTo('ann@example.com', 'm1');
  let isFull = true;
  const first = sendOver(() => isFull, taken);
  await clock.advance(minute);
  expect(first.tries).toEqual(['m1']);
  isFull = false;
  await clock.advance(minute);
  await first.queue[Symbol.asyncDispose]();
  const next = sendOver(() => false, taken);
  await clock.advance(minute);
  await next.queue[Symbol.asyncDispose]();
  expect(next.tries).toEqual([]);
});

test('a mail that is not taken while nothing can be written is tried again every few seconds, not at once', async () => {
  mailTo('ann@example.com', 'm1');
  const { tries, queue } = sendOver(() => true, notTaken);
  await clock.advance(minute);
  await queue[Symbol.asyncDispose]();
  expect(tries.length).toBeGreaterThan(5);
  expect(tries.length).toBeLessThan(20);
});

test('a clock that was ahead for a while delays no mail, gives none up, and has no event written again', async () => {
  mailTo('ann@example.com', 'm1');
  let answer = notTaken;
  const { tries, queue } = sendOver(
    () => false,
    () => answer(),
  );
  await using running = news();
  await clock.advance(minute);
  happened('began', 'a');
  await clock.advance(minute);
  clock.step(72 * hour);
  await clock.advance(hour);
  clock.step(-72 * hour);
  answer = taken;
  await clock.advance(minute);
  expect(tries).toContain('m1');
  expect(store.dueMails(Number.MAX_SAFE_INTEGER, 10)).toEqual([]);
  const sent = tries.length;
  happened('began', 'b');
  await clock.advance(hour);
  await running[Symbol.asyncDispose]();
  await queue[Symbol.asyncDispose]();
  expect(tries.slice(sent)).toEqual(['b']);
});

test('mails to thousands of subscribers are written in parts that fit into a record of the log of hubs', async () => {
  for (let number = 0; number < 2_500; number += 1) {
    const subscriber = { id: `s${number}`, page: 'status', address: `a${number}@example.com`, language: 'en' };
    const asked = { ...subscriber, secret: 'x', askedAt: clock.now(), confirmedAt: clock.now() };
    store.writeSubscription({ kind: 'subscriber', subscriber: asked });
  }
  const written: number[] = [];
  const recording: SubscriptionStore = {
    ...store,
    writeSubscription(write) {
      if (write.kind === 'mails') written.push(write.mails.length);
      store.writeSubscription(write);
    },
  };
  await using _running = news(recording);
  happened('began', 'a');
  await clock.advance(minute);
  expect(Math.max(...written)).toBeLessThanOrEqual(1_000);
  expect(store.dueMails(clock.now(), 10_000)).toHaveLength(2_500);
});

test('a request that cannot be stored is logged, and harms nothing else', async () => {
  const { log, lines } = memoryLog();
  await store.close();
  open(log).request({ page: 'status', address: 'ann@example.com', language: 'en' });
  expect(lines.map(({ msg }) => msg)).toEqual(['cannot store a subscription']);
});

test('while nothing is written, nothing is read, however many subscribers there are', async () => {
  for (let number = 0; number < 2_000; number += 1) {
    const subscriber = { id: `s${number}`, page: 'status', address: `a${number}@example.com`, language: 'en' };
    const asked = { ...subscriber, secret: 'x', askedAt: clock.now(), confirmedAt: clock.now() };
    store.writeSubscription({ kind: 'subscriber', subscriber: asked });
  }
  let reads = 0;
  let version = 0;
  await using _running = startPageNews({
    store,
    pages: () => ['status'],
    version: () => version,
    async eventsSince(_page, since) {
      reads += 1;
      return events.filter(({ at }) => at >= since);
    },
    wake: () => {},
    removeExpired: () => {},
    mayWrite: () => true,
    deletionNow: () => store.deletionNow(),
    clock,
    log: memoryLog().log,
  });
  await clock.advance(hour);
  expect(reads).toBe(1);
  happened('began', 'a');
  version += 1;
  await clock.advance(minute);
  expect(mails()).toHaveLength(1_000);
  const before = reads;
  await clock.advance(hour);
  expect(reads).toBe(before);
});

test('incidents and notes change the version that is looked at, results alone do not', async () => {
  const first = store.newsVersion();
  const record = async (one: Parameters<Store['record']>[0]) => {
    const stored = store.record(one);
    await clock.advance(1_000);
    await stored;
  };
  await record(round('shop', clock.now()));
  expect(store.newsVersion()).toBe(first);
  await record(opening('shop', clock.now() + 1_000));
  const before = store.newsVersion();
  expect(before).toBeGreaterThan(first);
  store.addNote({
    id: 'n',
    page: 'status',
    words: 'Slow.',
    createdAt: clock.now(),
    endsAt: null,
    thread: null,
    stage: null,
    targets: [],
  });
  expect(store.newsVersion()).toBeGreaterThan(before);
});
