import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { createReader } from '#history/create-reader.ts';
import type { HistoryReader, HistoryTarget } from '#history/reader.ts';
import type { ShownVerdict } from '#monitor/judge/round-record.ts';
import type { Store } from '#store/sqlite.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { closing, down, leaveBehind, openAt, opening, round, start, tempFolder, up, vote } from '../support/store.ts';

const minute = 60_000;

function knownTarget(name: string, more: Partial<HistoryTarget> = {}): HistoryTarget {
  return { name, check: 'http', host: `https://${name}.example.com`, labels: {}, objective: null, ...more };
}

function open(known: readonly HistoryTarget[]): { store: Store; reader: HistoryReader; clock: FakeClock } {
  const folder = tempFolder();
  const clock = new FakeClock(new Date(start + 10 * minute).toISOString());
  const store = openAt(join(folder.path, 'watchpost.db'), clock);
  onTestFinished(async () => {
    await store.close();
    folder[Symbol.dispose]();
  });
  return { store, clock, reader: createReader({ source: store.history, targets: () => known, clock }) };
}

const says = (status: ShownVerdict['status'], inMaintenance = false): ShownVerdict => ({
  status,
  inMaintenance,
  holdsMs: 2 * minute,
});

/** Ten minutes of `shop`: down from the 4th to before the 6th on both nodes, and at us1 one more minute. */
async function play(store: Store, clock: FakeClock): Promise<void> {
  const stored: Promise<unknown>[] = [];
  for (let index = 0; index < 10; index += 1) {
    const isDown = index === 4 || index === 5;
    const votes = [
      vote('de1', isDown ? down() : up(0.01 * (index + 1))),
      vote('us1', isDown || index === 6 ? down('timed out') : up(0.1)),
    ];
    const verdict = says(isDown ? 'down' : index === 6 ? 'partial' : 'up');
    stored.push(store.record(round('shop', start + index * minute, { votes, verdict })));
  }
  stored.push(store.record(round('mail', start + 9 * minute, { verdict: says('up') })));
  await clock.advance(2_000);
  await Promise.all(stored);
}

test('figures of a target count its downtime by verdicts, and its answers and times by results', async () => {
  const { store, reader, clock } = open([knownTarget('shop'), knownTarget('mail')]);
  await play(store, clock);
  const figures = await reader.figures({ from: start, to: start + 10 * minute, of: { target: 'shop' } });
  expect(figures.time).toEqual({
    up: 7 * minute,
    partial: minute,
    down: 2 * minute,
    unknown: 0,
    maintenance: 0,
    excluded: 0,
    unwatched: 0,
  });
  expect(figures.uptime).toBeCloseTo(0.8);
  expect(figures.answers).toEqual({ up: 15, down: 5, unknown: 0, late: 0 });
  expect(figures.latency).toMatchObject({ count: 15, min: 0.01, max: 0.1 });
  expect(figures.latency?.mean).toBeCloseTo((0.01 + 0.02 + 0.03 + 0.04 + 0.07 + 0.08 + 0.09 + 0.1 + 0.7) / 15);
});

test('a series of the time alone has the time of the whole one, and reads no results since there are verdicts', async () => {
  const { store, reader, clock } = open([knownTarget('shop')]);
  await play(store, clock);
  const query = { of: { target: 'shop' }, from: start, to: start + 10 * minute, points: 20 };
  const timesOf = async (isTimeOnly: boolean) => {
    const { parts } = await reader.series({ ...query, isTimeOnly });
    return parts.map(({ time, since, uptime, verdictsFrom }) => ({ time, since, uptime, verdictsFrom }));
  };
  const whole = await timesOf(false);
  expect(whole.map(({ uptime }) => uptime)).toEqual([1, 1, 1, 1, 0, 0, 1, 1, 1, 1]);
  const answersUp = async () => {
    const { parts } = await reader.series({ ...query, isTimeOnly: true });
    return parts.map(({ answers }) => answers.up);
  };
  const none = whole.map(() => 0);
  expect(await timesOf(true)).toEqual(whole);
  expect(await answersUp()).toEqual(none);

  // By then all of them are known to be there.
  while (store.upkeep());
  expect(await timesOf(true)).toEqual(whole);
  expect(await answersUp()).toEqual(none);
});

test('excluded time counts for nothing in figures, series, periods and budgets, and results stay as they were', async () => {
  const objective = { ratio: 0.5, overMs: 60 * minute };
  const { store, reader, clock } = open([knownTarget('shop', { objective }), knownTarget('mail')]);
  await play(store, clock);
  const span = { from: start, to: start + 10 * minute };
  const spent = async () => (await reader.budgets())[0]?.spentMs;
  expect(await spent()).toBe(2 * minute);
  const exclusion = { id: 'e1', target: 'shop', why: 'provider', createdAt: clock.now() };
  store.addExclusion({ ...exclusion, from: start + 4.5 * minute, to: start + 8 * minute });
  store.addExclusion({ ...exclusion, id: 'e2', target: 'other', ...span });
  const figures = await reader.figures({ ...span, of: { target: 'shop' } });
  expect(figures.time).toMatchObject({ up: 6 * minute, partial: 0, down: minute / 2, excluded: 3.5 * minute });
  expect(figures.answers).toEqual({ up: 15, down: 5, unknown: 0, late: 0 });
  expect(await spent()).toBe(minute / 2);
  const { parts } = await reader.series({ ...span, of: { target: 'shop' }, points: 20 });
  expect(parts.map(({ uptime }) => uptime)).toEqual([1, 1, 1, 1, 0, null, null, null, 1, 1]);
  const periods = await reader.periods('shop', span);
  const minutes = (at: number) => (at - start) / minute;
  expect(periods.map(({ from, to, isExcluded }) => [minutes(from), minutes(to), isExcluded])).toEqual([
    [0, 4, false],
    [4, 4.5, false],
    [4.5, 8, true],
    [8, 10, false],
  ]);
  const rounds = await reader.rounds('shop', { limit: 5 });
  expect(rounds.map(({ status }) => status)).toEqual(['up', 'up', 'up', 'partial', 'down']);
  expect(await reader.now({ target: 'shop' })).toMatchObject([{ status: 'up', since: start + 7 * minute }]);
  expect(await reader.exclusions({ ...span, target: 'shop' })).toMatchObject([{ id: 'e1' }]);
  expect(await reader.exclusions(span)).toMatchObject([{ id: 'e2' }, { id: 'e1' }]);

  for (const one of store.exclusions()) store.removeExclusion(one);
  expect(await spent()).toBe(2 * minute);
  store.addExclusion({ ...exclusion, id: 'e3', target: null, ...span });
  expect((await reader.figures({ ...span, of: { target: 'shop' } })).uptime).toBeNull();
  expect((await reader.figures({ ...span, of: { target: 'mail' } })).time).toMatchObject({ excluded: 10 * minute });
});

test('sealed time is excluded to the millisecond: verdicts are kept by periods', async () => {
  const { store, reader, clock } = open([knownTarget('shop')]);
  await play(store, clock);
  await clock.advance(3 * 86_400_000);
  while (store.upkeep());
  const span = { from: start, to: start + 60 * minute };
  expect(store.history.kept().daysUntil).toBeGreaterThan(span.to);
  const figures = async () => reader.figures({ ...span, of: { target: 'shop' } });
  const before = await figures();
  const from = start + 4 * minute + 123;
  store.addExclusion({ id: 'e1', target: 'shop', why: 'x', createdAt: clock.now(), from, to: start + 6 * minute });
  const after = await figures();
  expect(after.time).toEqual({ ...before.time, down: 123, excluded: 2 * minute - 123 });
  expect([after.answers, after.latency]).toEqual([before.answers, before.latency]);
});

test('figures of a node go by its answers', async () => {
  const { store, reader, clock } = open([knownTarget('shop')]);
  await play(store, clock);
  const byNode = await reader.byNode({ from: start, to: start + 10 * minute, of: { target: 'shop' } });
  expect(byNode.map(({ node, uptime, time }) => [node, uptime, time])).toEqual([
    ['de1', 0.8, null],
    ['us1', 0.7, null],
  ]);
});

test('a selection by label counts those that bear it', async () => {
  const { store, reader, clock } = open([knownTarget('shop', { labels: { team: 'web' } }), knownTarget('mail')]);
  await play(store, clock);
  const of = { label: 'team', value: 'web' };
  const span = { from: start, to: start + 10 * minute };
  expect((await reader.byTarget({ ...span, of })).map(({ target }) => target)).toEqual(['shop']);
  expect((await reader.figures({ ...span, of })).answers.up).toBe(15);
  expect((await reader.figures(span)).answers.up).toBe(16);
});

test('a series has every part of its span, and adds up to the figures of the whole', async () => {
  const { store, reader, clock } = open([knownTarget('shop')]);
  await play(store, clock);
  const span = { from: start, to: start + 10 * minute };
  const { parts, stepMs } = await reader.series({ ...span, of: { target: 'shop' }, points: 20 });
  expect(stepMs).toBe(minute);
  expect(parts.map(({ uptime }) => uptime)).toEqual([1, 1, 1, 1, 0, 0, 1, 1, 1, 1]);
  expect(parts.map(({ answers }) => answers.down)).toEqual([0, 0, 0, 0, 2, 2, 1, 0, 0, 0]);
  expect(parts[0]?.latency).toMatchObject({ count: 2, min: 0.01, max: 0.1 });
});

test('figures say from when on it was watched, and periods how it was meanwhile', async () => {
  const { store, reader, clock } = open([knownTarget('shop'), knownTarget('mail')]);
  await play(store, clock);
  const span = { from: start - 60 * minute, to: start + 60 * minute };
  const since = async (target: string) => (await reader.figures({ ...span, of: { target } })).since;
  expect([await since('shop'), await since('mail'), await since('other')]).toEqual([start, start + 9 * minute, null]);
  expect((await reader.figures(span)).since).toBe(start);
  expect((await reader.byNode(span)).map((one) => one.since)).toEqual([null, null]);
  const { parts } = await reader.series({ ...span, of: { target: 'shop' }, stepMs: 60 * minute });
  expect(parts.map((one) => one.since)).toEqual([null, start]);
  const periods = await reader.periods('shop', span);
  expect(periods.map(({ from, to, status }) => [(from - start) / minute, (to - start) / minute, status])).toEqual([
    [0, 4, 'up'],
    [4, 6, 'down'],
    [6, 7, 'partial'],
    [7, (clock.now() - start) / minute, 'up'],
  ]);
});

test('rounds come with their votes and their verdict, the newest first', async () => {
  const { store, reader, clock } = open([knownTarget('shop')]);
  await play(store, clock);
  const rounds = await reader.rounds('shop', { limit: 4 });
  expect(rounds.map(({ dueAt, status }) => [(dueAt - start) / minute, status])).toEqual([
    [9, 'up'],
    [8, 'up'],
    [7, 'up'],
    [6, 'partial'],
  ]);
  expect(rounds[3]?.votes).toMatchObject([
    { node: 'de1', status: 'up', seconds: 0.07, failure: null },
    { node: 'us1', status: 'down', failure: { source: 'target', code: 'refused', message: 'timed out' } },
  ]);
  const older = await reader.rounds('shop', { before: start + 2 * minute, limit: 4 });
  expect(older.map(({ dueAt }) => (dueAt - start) / minute)).toEqual([1, 0]);
});

test('a target is as its last round saw it, until that holds no longer', async () => {
  const { store, reader, clock } = open([knownTarget('shop'), knownTarget('new')]);
  await play(store, clock);
  expect(await reader.now()).toMatchObject([
    { name: 'new', status: 'unknown', since: null, round: null },
    { name: 'shop', status: 'up', since: start + 7 * minute, round: { dueAt: start + 9 * minute }, incidents: [] },
  ]);
  await clock.advance(2 * minute);
  expect(await reader.now({ target: 'shop' })).toMatchObject([{ status: 'unknown', since: start + 11 * minute }]);
});

test('incidents are listed by pages, the newest first, and one has its deliveries', async () => {
  const { store, reader, clock } = open([knownTarget('shop')]);
  const stored: Promise<unknown>[] = [];
  for (const index of [0, 1, 2]) {
    const openedAt = start + index * 2 * minute;
    stored.push(store.record(opening('shop', openedAt)));
    if (index < 2) stored.push(store.record(closing('shop', openedAt, openedAt + minute)));
  }
  await clock.advance(1_000);
  await Promise.all(stored);
  const first = await reader.incidents({ limit: 2 });
  expect(first.incidents.map(({ openedAt, endedAt }) => [openedAt - start, endedAt === null])).toEqual([
    [4 * minute, true],
    [2 * minute, false],
  ]);
  const second = await reader.incidents({ limit: 2, after: first.next ?? '' });
  expect(second.incidents.map(({ openedAt }) => openedAt - start)).toEqual([0]);
  expect(second.next).toBeNull();
  expect((await reader.incidents({ isOpen: true })).incidents).toHaveLength(1);
  expect((await reader.incidents({ target: 'mail' })).incidents).toEqual([]);
  const [open_] = (await reader.incidents({ isOpen: true })).incidents;
  expect(await reader.incident(open_?.id ?? '')).toMatchObject({
    target: 'shop',
    word: 'DOWN',
    cause: 'connection refused',
    votes: [{ node: 'de1', status: 'down' }],
    deliveries: [{ kind: 'opened', channel: 'email', recipient: 'ops@example.com', state: 'pending' }],
  });
  expect(await reader.incident('nonsense')).toBeNull();
  await expect(reader.incidents({ after: '%%%' })).rejects.toThrow('invalid cursor');
});

test('verdicts survive a restart, and a kill: the newest period goes on where the results end', async () => {
  using folder = tempFolder();
  const path = join(folder.path, 'watchpost.db');
  const clock = new FakeClock(new Date(start + 10 * minute).toISOString());
  const targets = () => [knownTarget('shop')];
  const span = { from: start, to: start + 11 * minute };
  const read = async (store: Store) =>
    (await createReader({ source: store.history, targets, clock }).figures(span)).time;
  const store = openAt(path, clock);
  await play(store, clock);
  const before = await read(store);
  // Another look at the file, while the first has not written how long its newest period lasted.
  using copy = tempFolder();
  const copied = join(copy.path, 'copy.db');
  const reading = new Database(path);
  onTestFinished(() => void reading.close());
  reading.exec(`VACUUM INTO '${copied}'`);
  await store.close();
  for (const file of [path, copied]) {
    await using again = openAt(file, clock);
    expect(await read(again)).toEqual(before);
  }
});

test('a kill while sealing is behind leaves the verdicts of a target as they were that had no round for hours', async () => {
  using folder = tempFolder();
  const path = join(folder.path, 'watchpost.db');
  const later = start + 5 * 60 * minute;
  const clock = new FakeClock(new Date(later + minute).toISOString());
  const span = { from: start, to: later, of: { target: 'shop' } };
  const read = async (store: Store) =>
    (await createReader({ source: store.history, targets: () => [], clock }).figures(span)).time;
  await using store = openAt(path, clock);
  await play(store, clock);
  const stored = store.record(round('mail', later, { verdict: says('up') }));
  await clock.advance(3_000);
  await stored;
  const before = await read(store);
  expect(before).toMatchObject({ up: 8 * minute, down: 2 * minute });
  leaveBehind(path, `${path}+`);
  await using again = openAt(`${path}+`, clock);
  expect(await read(again)).toEqual(before);
});
