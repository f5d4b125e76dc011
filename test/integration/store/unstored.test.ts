import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { watchOurselves } from '#compose/ourselves.ts';
import type { RoundRecord } from '#monitor/judge/round-record.ts';
import type { Target } from '#monitor/judge/target.ts';
import { type Monitor, startMonitor } from '#monitor/monitor.ts';
import type { DeliveryPolicy } from '#monitor/notify/delivery-policy.ts';
import { createOutbox, type Outbox } from '#monitor/notify/outbox.ts';
import { createUnstored, type UnstoredDeliveries } from '#monitor/notify/unstored.ts';
import { watchByRuns } from '#monitor/watch/by-runs.ts';
import type { Store } from '#store/sqlite.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { alone } from '../../support/policies.ts';
import { accepted, RecordingChannel, refusedForNow } from '../../support/recording-channel.ts';
import { rule, target } from '../../support/scenario.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { opening, openAt, start, tempFolder, type TempFolder } from '../../support/store.ts';
import { down, nodeInfo, up } from '../../support/votes.ts';

// The whole monitor on a real database that another program holds locked, as a full or broken disk would.

const second = 1_000;
const minute = 60 * second;
const shop: Target = target('shop', {
  schedule: { kind: 'every', everyMs: 5 * second },
  rules: [rule('down', { rounds: 1, recover: 1, confirm: false })],
});

let folder: TempFolder;
let clock: FakeClock;
let store: Store;
let email: RecordingChannel;
let monitor: Monitor;
let outbox: Outbox;
let unstored: UnstoredDeliveries;
let logged: ReturnType<typeof memoryLog>;
let ourselves: Disposable;
let policy: DeliveryPolicy;
let isUp = true;
let locked: Database.Database | null = null;

const pathOf = () => join(folder.path, 'watchpost.db');

function lock(): void {
  locked = new Database(pathOf());
  locked.exec('BEGIN IMMEDIATE');
}

function unlock(): void {
  locked?.close();
  locked = null;
}

function launch(): void {
  unstored = createUnstored({ store, log: logged.log });
  outbox = createOutbox({
    store: unstored,
    channels: [email],
    clock,
    random: seededRandom(1),
    log: logged.log,
    policyOf: () => policy,
    linkTo: () => null,
    identity: 'here',
  });
  const asked = {
    nodes: () => [nodeInfo('de1')],
    run: async () => ({ votes: [{ node: nodeInfo('de1'), outcome: isUp ? up() : down() }], reportUrl: null }),
  };
  monitor = startMonitor(
    { targets: [shop], maintenance: [] },
    {
      runner: watchByRuns(asked, clock, logged.log),
      store,
      clock,
      log: logged.log,
      events: { roundAwaited() {}, roundSkipped() {}, roundDone() {}, recorded() {}, unwatched() {} },
      wakeOutbox: () => outbox.wake(),
      onUnstored: (record: RoundRecord) => unstored.add(record),
    },
  );
  ourselves = watchOurselves(pathOf(), {
    store,
    checking: { hub: () => null, overload: () => null, overloadedNodes: () => [] },
    monitor,
    hubs: null,
    clock,
  });
  outbox.start();
}

async function end(): Promise<void> {
  ourselves[Symbol.dispose]();
  const stopped = monitor.stop(4 * second);
  await clock.advance(4 * second);
  await stopped;
  await outbox.stop();
}

beforeEach(async () => {
  folder = tempFolder();
  clock = new FakeClock();
  logged = memoryLog();
  store = openAt(pathOf(), clock);
  email = new RecordingChannel();
  isUp = true;
  policy = alone;
  launch();
  await clock.advance(2 * minute);
});

afterEach(async () => {
  unlock();
  await end();
  await store.close();
  folder[Symbol.dispose]();
  // What waited for the store hears that it is closed.
  await clock.advance(0);
  expect(clock.pending).toBe(0);
});

const told = () => email.subjects.filter((subject) => subject.includes('shop'));
const rows = () =>
  store
    .listDeliveries({ limit: 100 })
    .filter(({ target: of }) => of === 'shop')
    .toReversed();
const words = [expect.stringMatching(/^\[DOWN\] shop/), expect.stringMatching(/^\[RESOLVED\] shop/)];

test('a recipient that was notified while nothing could be stored hears of the end, though it is notified later than others', async () => {
  policy = { ...alone, afterMs: 2 * minute };
  isUp = false;
  await clock.advance(15 * second);
  expect(rows()).toMatchObject([{ kind: 'opened', state: 'pending' }]);
  lock();
  await clock.advance(3 * minute);
  expect(told()).toEqual([words[0]]);
  isUp = true;
  await clock.advance(minute);
  expect(told()).toEqual(words);
  const [first, last] = email.attempts.filter(({ message }) => message.incidents[0]?.target === 'shop');
  expect(last?.message.references).toEqual([first?.message.id]);
  unlock();
  await clock.advance(5 * minute);
  expect(told()).toEqual(words);
});

test('an outage and its end are told in time while nothing can be stored, and not again once they are', async () => {
  lock();
  isUp = false;
  await clock.advance(minute + 5 * second);
  expect(told()).toEqual([words[0]]);
  const id = monitor.openIncidents().find(({ target: of }) => of === 'shop')?.id ?? '';
  expect(unstored.deliveriesOf(id)).toMatchObject([{ kind: 'opened', state: 'sent', target: 'shop' }]);
  isUp = true;
  await clock.advance(minute + 5 * second);
  expect(told()).toEqual(words);
  const shopMails = email.attempts.filter(({ message }) => message.incidents[0]?.target === 'shop');
  expect(shopMails[1]?.message.references).toEqual([shopMails[0]?.message.id]);
  expect(rows()).toEqual([]);
  expect(monitor.openIncidents().map(({ target: of }) => of)).not.toContain('shop');

  unlock();
  await clock.advance(5 * minute);
  expect(told()).toEqual(words);
  expect(unstored.deliveriesOf(id).map(({ state }) => state)).toEqual(['sent', 'sent']);
  expect(rows()).toMatchObject([
    { kind: 'opened', state: 'sent', attempts: 1, message: shopMails[0]?.message.id },
    { kind: 'resolved', state: 'sent', attempts: 1, message: shopMails[1]?.message.id },
  ]);
  await end();
  launch();
  await clock.advance(10 * minute);
  expect(told()).toEqual(words);
});

test('a delivery that is told unstored has the id that it has where it is stored', async () => {
  isUp = false;
  await clock.advance(minute);
  const stored = email.attempts[0]?.message;
  await end();
  await store.close();
  folder[Symbol.dispose]();
  folder = tempFolder();
  clock = new FakeClock();
  store = openAt(pathOf(), clock);
  isUp = true;
  launch();
  await clock.advance(2 * minute);
  lock();
  isUp = false;
  await clock.advance(minute + 5 * second);
  const unstored = email.attempts.find(
    ({ message }) => message !== stored && message.incidents[0]?.target === 'shop',
  )?.message;
  expect(unstored).not.toBe(stored);
  expect(unstored).toMatchObject({ id: stored?.id, incidents: [{ id: stored?.incidents[0]?.id }] });
});

test('the end of what was stored is told in its thread', async () => {
  isUp = false;
  await clock.advance(minute);
  lock();
  isUp = true;
  await clock.advance(minute + 5 * second);
  expect(told()).toEqual(words);
  const [opened, resolved] = email.attempts.map(({ message }) => message);
  expect(resolved?.references).toEqual([opened?.id]);
});

test('one story is told where the beginning is stored and could not be sent, and the end could not be stored', async () => {
  email.answer = () => refusedForNow;
  isUp = false;
  await clock.advance(minute);
  lock();
  isUp = true;
  await clock.advance(minute + 5 * second);
  email.answer = () => accepted;
  await clock.advance(minute);
  expect(told().at(-1)).toMatch(/was down .* this mail was delayed/);
  const attempts = told().length;
  unlock();
  await clock.advance(5 * minute);
  expect(told()).toHaveLength(attempts);
  expect(rows()).toMatchObject([
    { kind: 'opened', state: 'sent' },
    { kind: 'resolved', state: 'merged' },
  ]);
});

test('a message that is on its way while its delivery is stored settles that', async () => {
  const { promise, resolve } = Promise.withResolvers<typeof accepted>();
  lock();
  isUp = false;
  email.answer = async ({ message }) => (message.incidents[0]?.target === 'shop' ? promise : accepted);
  await clock.advance(15 * second);
  expect(told()).toHaveLength(1);
  unlock();
  await clock.advance(20 * second);
  expect(rows()).toMatchObject([{ kind: 'opened', state: 'pending', message: email.attempts[0]?.message.id }]);
  resolve(accepted);
  await clock.advance(5 * minute);
  expect(told()).toHaveLength(1);
  expect(rows()).toMatchObject([{ kind: 'opened', state: 'sent' }]);
});

test('what was tried in vain while nothing could be stored goes on from there', async () => {
  lock();
  isUp = false;
  email.answer = () => refusedForNow;
  await clock.advance(2 * minute);
  const attempts = told().length;
  expect(attempts).toBeGreaterThan(1);
  unlock();
  await clock.advance(15 * second);
  expect(rows()).toMatchObject([{ kind: 'opened', state: 'pending', lastError: '451 try again' }]);
  email.answer = () => accepted;
  await clock.advance(2 * minute);
  expect(rows()).toMatchObject([{ kind: 'opened', state: 'sent' }]);
  expect(new Set(email.attempts.map(({ message }) => message.incidents[0]?.target === 'shop' && message.id)).size).toBe(
    2,
  );
});

test('that nothing can be stored is told once, and that it can again once it holds', async () => {
  const ours = () => email.subjects.filter((subject) => subject.includes('Watchpost database'));
  lock();
  await clock.advance(9 * second);
  expect(ours()).toEqual([]);
  await clock.advance(20 * second);
  expect(ours()).toEqual(['[NOT WRITABLE] Watchpost database: database is locked']);
  await clock.advance(3 * minute);
  expect(ours()).toHaveLength(1);
  for (let times = 0; times < 3; times += 1) {
    unlock();
    await clock.advance(30 * second);
    lock();
    await clock.advance(30 * second);
  }
  expect(ours()).toHaveLength(1);
  unlock();
  await clock.advance(2 * minute);
  expect(ours()).toEqual([ours()[0], expect.stringMatching(/^\[RESOLVED\] Watchpost database: writable again after /)]);
  await end();
  launch();
  await clock.advance(10 * minute);
  expect(ours()).toHaveLength(2);
});

test('a database that somebody holds for a few seconds is nobody else’s business', async () => {
  for (let times = 0; times < 5; times += 1) {
    lock();
    await clock.advance(8 * second);
    unlock();
    await clock.advance(12 * second);
  }
  await clock.advance(minute);
  expect(email.subjects).toEqual([]);
});

test('the monitor ends in its time while nothing can be stored, and what is open is told before', async () => {
  lock();
  await clock.advance(5 * second);
  isUp = false;
  await clock.advance(5 * second);
  let isOver = false;
  const stopped = monitor.stop(4 * second).then(() => (isOver = true));
  await clock.advance(4 * second);
  expect(isOver).toBe(true);
  await stopped;
  await clock.advance(0);
  expect(told()).toEqual([words[0]]);
});

test('what the database refuses for good is told nevertheless', async () => {
  const database = new Database(pathOf());
  database.exec(`CREATE TRIGGER broken BEFORE INSERT ON incidents BEGIN SELECT raise(ABORT, 'broken'); END`);
  isUp = false;
  await clock.advance(minute);
  expect(told()).toEqual([words[0]]);
  database.close();
  expect(logged.errors()).toContain('cannot store round');
});

test('deliveries through a channel that forgets are renewed while nothing can be stored', async () => {
  const unstored = createUnstored({ store, log: logged.log });
  lock();
  unstored.add(opening('blog', start));
  expect(unstored.notifiedAndOpen('email')).toEqual([]);
  const [row] = unstored.dueDeliveries(start, 10);
  unstored.storeOutcomes([{ id: row!.delivery.id, state: 'sent', at: start, message: 'm', remindAt: start + minute }]);
  expect(unstored.notifiedAndOpen('email')).toMatchObject([
    { recipient: 'ops@example.com', incident: { target: 'blog' } },
  ]);
  expect(unstored.nextDeliveryAt(start)).toBe(start + minute);
  expect(unstored.dueDeliveries(start + minute, 10)).toMatchObject([
    { delivery: { kind: 'reminder', number: 1 }, root: 'm' },
  ]);
});
