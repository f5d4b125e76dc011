import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { CommitQueue, type QueuedWrite } from '#store/queue.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { down, healthy, opening, quiet, round, start, state, unanswered, vote } from '../support/store.ts';

function full(): Error {
  return new Error('query failed', { cause: new Database.SqliteError('database or disk is full', 'SQLITE_FULL') });
}

/** A queue over a disk that is a list, with a switch that makes it refuse. */
function setUp(limit = 100) {
  const clock = new FakeClock();
  const disk = { refuses: false, attempts: 0, commits: [] as { targets: string[]; durable: boolean; turn: number }[] };
  let turn = 0;
  const queue = new CommitQueue({
    clock,
    log: quiet,
    limit,
    commit(work, durable) {
      disk.attempts += 1;
      if (disk.refuses) throw full();
      const names = work.map(nameOf);
      if (names.includes('broken')) throw new TypeError('no such column');
      disk.commits.push({ targets: names, durable, turn });
      queueMicrotask(() => (turn += 1));
      return work.map(() => 'stored' as const);
    },
  });
  return { clock, disk, queue };
}

function nameOf(work: QueuedWrite): string {
  if (work.kind === 'late') return work.late.target;
  return work.kind === 'round' ? work.round.target : `settles ${work.outcomes.length}`;
}

test('asks for a sync only where somebody will be told of it', async () => {
  const { clock, disk, queue } = setUp();
  void queue.add(round('steady', start));
  await clock.advance(1_000);
  void queue.add(round('state', start, { states: [state('state')] }));
  await clock.advance(1_000);
  void queue.add(opening('incident', start));
  queue.storeOutcomes([{ id: 1, state: 'sent', message: 'm', remindAt: null, at: start }]);
  expect(disk.commits).toMatchObject([
    { targets: ['steady'], durable: false },
    { targets: ['state'], durable: false },
    { targets: ['incident'], durable: true },
    { targets: ['settles 1'], durable: true },
  ]);
});

test('commits few healthy rounds after three seconds', async () => {
  const { clock, disk, queue } = setUp();
  for (let index = 0; index < 99; index += 1) void queue.add(healthy(`t${index}`, start));
  await clock.advance(2_999);
  expect(disk.commits).toHaveLength(0);
  await clock.advance(1);
  expect(disk.commits.map(({ targets }) => targets.length)).toEqual([99]);
});

test('commits healthy rounds with a hundred results after a second', async () => {
  const { clock, disk, queue } = setUp();
  const votes = Array.from({ length: 5 }, (_, node) => vote(`de${node}`));
  for (let index = 0; index < 20; index += 1) void queue.add(healthy(`t${index}`, start, { votes }));
  await clock.advance(999);
  expect(disk.commits).toHaveLength(0);
  await clock.advance(1);
  expect(disk.commits.map(({ targets }) => targets.length)).toEqual([20]);
});

test('commits rounds that fill a transaction without waiting for the second to end', async () => {
  const { clock, disk, queue } = setUp();
  const votes = Array.from({ length: 20 }, (_, node) => vote(`de${node}`));
  for (let index = 0; index < 29; index += 1) void queue.add(healthy(`t${index}`, start, { votes }));
  await clock.advance(500);
  expect(disk.commits).toHaveLength(0);
  void queue.add(healthy('the one that fills it', start, { votes }));
  await clock.advance(0);
  expect(disk.commits.flatMap(({ targets }) => targets)).toHaveLength(30);
});

test('commits healthy rounds with all that comes with the result that makes them a hundred', async () => {
  const { clock, disk, queue } = setUp();
  for (let index = 0; index < 60; index += 1) void queue.add(healthy(`t${index}`, start));
  await clock.advance(1_500);
  for (let index = 60; index < 120; index += 1) void queue.add(healthy(`t${index}`, start));
  expect(disk.commits).toHaveLength(0);
  await clock.advance(0);
  expect(disk.commits.map(({ targets }) => targets.length)).toEqual([120]);
  void queue.add(healthy('next', start));
  await clock.advance(2_999);
  expect(disk.commits).toHaveLength(1);
});

const verdict = { status: 'up', inMaintenance: false, holdsMs: 60_000 } as const;

test.for([
  { name: 'without a verdict', other: round('other', start) },
  { name: 'that is down', other: healthy('other', start, { verdict: { ...verdict, status: 'down' } }) },
  { name: 'that is partly down', other: healthy('other', start, { verdict: { ...verdict, status: 'partial' } }) },
  { name: 'with a vote that is down', other: healthy('other', start, { votes: [vote(), vote('us1', down())] }) },
  { name: 'with a node without an answer', other: healthy('other', start, { votes: [vote('us1', unanswered())] }) },
  {
    name: 'whose verdict holds for seconds',
    other: healthy('other', start, { verdict: { ...verdict, holdsMs: 9_999 } }),
  },
])('commits a steady round $name after a second at most, and healthy rounds with it', async ({ other }) => {
  const { clock, disk, queue } = setUp();
  void queue.add(healthy('first', start));
  await clock.advance(500);
  void queue.add(other);
  await clock.advance(499);
  expect(disk.commits).toHaveLength(0);
  await clock.advance(1);
  expect(disk.commits.map(({ targets }) => targets)).toEqual([['first', 'other']]);
  void queue.add(healthy('first', start));
  await clock.advance(2_000);
  void queue.add(other);
  await clock.advance(0);
  expect(disk.commits).toHaveLength(2);
});

test('commits healthy rounds before they are read if they have waited long enough', async () => {
  const { clock, disk, queue } = setUp();
  queue.flush(1_000);
  void queue.add(healthy('first', start));
  await clock.advance(999);
  void queue.add(healthy('second', start));
  queue.flush(1_000);
  expect(disk.commits).toHaveLength(0);
  await clock.advance(1);
  queue.flush(1_000);
  expect(disk.commits.map(({ targets }) => targets)).toEqual([['first', 'second']]);
  expect(clock.pending).toBe(0);
});

test('commits a change of state at once, and healthy rounds with it', () => {
  const { disk, queue } = setUp();
  void queue.add(healthy('first', start));
  void queue.add(healthy('second', start, { states: [state('second')] }));
  expect(disk.commits.map(({ targets }) => targets)).toEqual([['first', 'second']]);
});

test('does not try the disk again for a reader while it refuses', async () => {
  const { clock, disk, queue } = setUp();
  disk.refuses = true;
  void queue.add(opening('shop', start));
  void queue.add(healthy('first', start));
  await clock.advance(1_000);
  const { attempts } = disk;
  queue.flush(1_000);
  queue.flush();
  expect(disk.attempts).toBe(attempts);
});

test('commits three hundred waiting rounds without waiting for the second to end', () => {
  const { disk, queue } = setUp();
  for (let index = 0; index < 299; index += 1) void queue.add(round(`t${index}`, start));
  expect(disk.commits).toHaveLength(0);
  void queue.add(round('last', start));
  expect(disk.commits.map(({ targets }) => targets.length)).toEqual([300]);
});

test('what waited while the disk was full is committed in short transactions, each in a turn of its own', async () => {
  const { clock, disk, queue } = setUp(5_000);
  disk.refuses = true;
  const votes = Array.from({ length: 5 }, (_, node) => vote(`de${node}`));
  const stored = Promise.all(
    Array.from({ length: 2_000 }, async (_, index) => queue.add(round(`t${index}`, start + index, { votes }))),
  );
  await clock.advance(1_000);
  disk.refuses = false;
  await clock.advance(10_000);
  await stored;
  // A round with five votes counts as six rows.
  expect(disk.commits.map(({ targets }) => targets.length)).toEqual(Array.from({ length: 20 }, () => 100));
  expect(new Set(disk.commits.map(({ turn }) => turn)).size).toBe(20);
  expect(disk.commits.flatMap(({ targets }) => targets)).toEqual(Array.from({ length: 2_000 }, (_, at) => `t${at}`));
});

test('a round of more rows than a transaction should have is stored all the same', () => {
  const { disk, queue } = setUp();
  const votes = Array.from({ length: 1_000 }, (_, node) => vote(`de${node}`));
  void queue.add(round('all', start, { votes }));
  void queue.add(opening('shop', start));
  expect(queue.close()).toBe(0);
  expect(disk.commits.map(({ targets }) => targets)).toEqual([['all'], ['shop']]);
});

test('a outcome is in the database when it is taken, and so is all that waited before it', () => {
  const { disk, queue } = setUp();
  for (let index = 0; index < 1_000; index += 1) void queue.add(opening(`t${index}`, start));
  queue.storeOutcomes([{ id: 1, state: 'sent', message: 'm', remindAt: null, at: start }]);
  const committed = disk.commits.flatMap(({ targets }) => targets);
  expect(committed).toHaveLength(1_001);
  expect(committed.at(-1)).toBe('settles 1');
});

test('tries a full disk again with growing pauses, up to ten seconds', async () => {
  const { clock, disk, queue } = setUp();
  disk.refuses = true;
  void queue.add(opening('shop', start));
  const tries: number[] = [];
  for (let ms = 0; ms < 40_000; ms += 250) {
    const before = disk.attempts;
    await clock.advance(250);
    if (disk.attempts > before) tries.push(clock.elapsed());
  }
  expect(tries).toEqual([250, 750, 1_750, 3_750, 7_750, 15_750, 25_750, 35_750]);
  expect(queue.health()).toMatchObject({ lastError: 'database or disk is full', failingSince: start, queued: 1 });
});

test('gives up the oldest steady rounds on a full disk, then changed states, and never an incident', async () => {
  const { clock, disk, queue } = setUp(3);
  disk.refuses = true;
  const kept = [queue.add(opening('incident', start))];
  const given = [queue.add(round('steady 1', start)), queue.add(round('state', start, { states: [state('state')] }))];
  const dropped = Promise.allSettled(given);
  given.push(queue.add(round('steady 2', start)));
  kept.push(queue.add(opening('incident 2', start)), queue.add(opening('incident 3', start)));
  kept.push(queue.add(opening('incident 4', start)));
  await expect(given[2]).rejects.toThrow('round dropped: database or disk is full, and the queue is full');
  expect((await dropped).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(queue.health()).toMatchObject({ queued: 4, dropped: 3 });

  disk.refuses = false;
  await clock.advance(10_000);
  expect(await Promise.all(kept)).toEqual(['stored', 'stored', 'stored', 'stored']);
  expect(disk.commits.flatMap(({ targets }) => targets)).toEqual([
    'incident',
    'incident 2',
    'incident 3',
    'incident 4',
  ]);
});

test('commits everybody else where one round is at fault', async () => {
  const { clock, disk, queue } = setUp();
  const all = ['a', 'broken', 'b'].map((name) => queue.add(round(name, start)));
  const settled = Promise.allSettled(all);
  await clock.advance(1_000);
  expect((await settled).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(disk.commits.map(({ targets }) => targets)).toEqual([['a'], ['b']]);
  expect(queue.health()).toMatchObject({ lastError: null, queued: 0 });
});

test('leaves no timer behind when it closes', async () => {
  const { clock, disk, queue } = setUp();
  void queue.add(round('shop', start));
  expect(clock.pending).toBe(1);
  expect(queue.close()).toBe(0);
  expect(disk.commits).toHaveLength(1);
  expect(clock.pending).toBe(0);
});

test('a reader does not commit many that have waited: their own turn does', async () => {
  const { clock, disk, queue } = setUp();
  for (let index = 0; index < 100; index += 1) void queue.add(healthy(`t${index}`, start));
  clock.hold(1_500);
  queue.flush(1_000);
  expect(disk.commits).toHaveLength(0);
  await clock.advance(0);
  expect(disk.commits.map(({ targets }) => targets.length)).toEqual([100]);
});
