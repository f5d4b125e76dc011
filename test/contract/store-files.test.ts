import { copyFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test, vi } from 'vitest';
import { healthOf } from '#compose/health.ts';
import { systemClock } from '#kernel/clock.ts';
import { watchFiles } from '#store/file-watch.ts';
import { examine } from '#store/reading.ts';
import type { Store } from '#store/sqlite.ts';
import { serveWeb } from '../support/web.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { memoryLog } from '../support/memory-log.ts';
import { silentLog } from '../support/metrics.ts';
import { openAt, opening, start, tempFolder } from '../support/store.ts';

async function serve(store: Store, clock: FakeClock) {
  const web = await serveWeb({
    health: healthOf({
      checking: { notReady: () => [] },
      store,
      outbox: { ageMs: () => 0 },
      clock,
      monitor: () => undefined,
    }),
  });
  const ask = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${web.addr().port}${path}`);
    return { status: answer.status, body: await answer.text() };
  };
  return { ask, [Symbol.asyncDispose]: async () => web[Symbol.asyncDispose]() };
}

test('/readyz says at once that nothing can be stored and why, /healthz after a minute', async () => {
  using folder = tempFolder();
  const clock = new FakeClock();
  const path = join(folder.path, 'watchpost.db');
  await using store = openAt(path, clock);
  await using web = await serve(store, clock);
  expect(await web.ask('/readyz')).toMatchObject({ status: 200 });

  const intruder = new Database(path);
  intruder.exec('BEGIN IMMEDIATE');
  const waiting = store.record(opening('shop', start));
  const refused = await web.ask('/readyz');
  expect(refused.status).toBe(503);
  expect(JSON.parse(refused.body)).toMatchObject({ reasons: ['nothing can be stored: database is locked'] });
  expect(await web.ask('/healthz')).toMatchObject({ status: 200 });
  await clock.advance(60_000);
  expect(await web.ask('/healthz')).toMatchObject({ status: 503 });

  intruder.close();
  await clock.advance(10_000);
  expect(await waiting).toBe('stored');
  expect(await web.ask('/readyz')).toMatchObject({ status: 200 });
});

const right = { lastError: null, failingSince: null };
const deleted = expect.stringMatching(
  /was deleted or moved while it is in use: .* put the right file there and restart/,
);

test.each([
  { name: 'the database', suffix: '' },
  { name: 'the lock', suffix: '.lock' },
  { name: 'the write-ahead log', suffix: '-wal' },
  { name: 'the index of the write-ahead log', suffix: '-shm' },
])('$name is deleted while it is in use: noticed within half a minute', async ({ suffix }) => {
  using folder = tempFolder();
  const clock = new FakeClock();
  const kept = memoryLog();
  const path = join(folder.path, 'watchpost.db');
  await using store = openAt(path, clock, { log: kept.log });
  await using web = await serve(store, clock);
  await clock.advance(30_000);
  expect(store.health()).toMatchObject(right);

  rmSync(path + suffix);
  await clock.advance(30_000);
  expect(store.health()).toMatchObject({ lastError: deleted, failingSince: start + 30_000 });
  expect(store.health().lastError).toContain(`${path}${suffix}: `);
  const { status, body } = await web.ask('/readyz');
  expect(status).toBe(503);
  expect(body).toContain('was deleted or moved');
  await clock.advance(30_000);
  expect(await web.ask('/healthz')).toMatchObject({ status: 503 });
  // Said once, however often it is looked at.
  expect(kept.errors()).toEqual(['database file was replaced or deleted']);
});

test('a write-ahead log that comes with the first write only is watched from then on, and one that is exchanged is noticed', async () => {
  using folder = tempFolder();
  const clock = new FakeClock();
  const [database, log] = [join(folder.path, 'watchpost.db'), join(folder.path, 'watchpost.db-wal')];
  writeFileSync(database, '');
  using watch = watchFiles({ mustBe: [database], mayCome: [log] }, { clock, log: silentLog });
  await clock.advance(30_000);
  expect(watch.trouble()).toBeNull();
  writeFileSync(log, 'one');
  await clock.advance(30_000);
  expect(watch.trouble()).toBeNull();
  renameSync(log, `${log}.old`);
  writeFileSync(log, 'another');
  await clock.advance(30_000);
  expect(watch.trouble()?.message).toContain(`${log}: another file stands in place of the one that was opened`);
});

test('a database that is exchanged is noticed, and so is its return', async () => {
  using folder = tempFolder();
  const clock = new FakeClock();
  const path = join(folder.path, 'watchpost.db');
  await using store = openAt(path, clock);
  renameSync(path, `${path}.old`);
  copyFileSync(`${path}.old`, path);
  await clock.advance(30_000);
  expect(store.health().lastError).toContain(`${path}: another file stands in place of the one that was opened`);
  renameSync(`${path}.old`, path);
  await clock.advance(30_000);
  expect(store.health()).toMatchObject(right);
});

test('nothing looks at files any more once the store is closed', async () => {
  using folder = tempFolder();
  const clock = new FakeClock();
  await openAt(join(folder.path, 'watchpost.db'), clock).close();
  expect(clock.pending).toBe(0);
});

test('a metric that throws when something was written has it written once, and changes nothing', async () => {
  using folder = tempFolder();
  const kept = memoryLog();
  const path = join(folder.path, 'watchpost.db');
  const clock = new FakeClock();
  await using store = openAt(path, clock, {
    log: kept.log,
    onWritten() {
      throw new Error('no such label');
    },
  });
  const recorded = ['shop', 'blog'].map(async (target) => store.record(opening(target, start)));
  await clock.advance(1_000);
  expect(await Promise.all(recorded)).toEqual(['stored', 'stored']);
  expect(store.health()).toMatchObject(right);
  expect(store.recentResults('shop', 0)).toHaveLength(1);
  expect(store.dueDeliveries(start, 10)).toHaveLength(2);
  expect(kept.errors()).toContain('cannot report that the database was written');
});

test('what people are told of waits for the disk, also after history was sealed in between', async () => {
  using folder = tempFolder();
  const path = join(folder.path, 'watchpost.db');
  using pragma = vi.spyOn(Database.prototype, 'pragma');
  const said = () => pragma.mock.calls.map(([source]) => source).filter((source) => source.startsWith('synchronous'));
  const clock = new FakeClock();
  await using store = openAt(path, clock);
  await store.record(opening('shop', start));
  expect(said().at(-1)).toBe('synchronous = FULL');
  store.upkeep();
  expect(said().at(-1)).toBe('synchronous = NORMAL');
  await clock.advance(1_000);
  await store.record(opening('blog', start));
  expect(said().at(-1)).toBe('synchronous = FULL');
});

test('a database that was dumped and read back is one of this version again once it was started', async () => {
  using folder = tempFolder();
  const path = join(folder.path, 'watchpost.db');
  await openAt(path, systemClock).close();
  const rescued = new Database(path);
  rescued.pragma('user_version = 0');
  rescued.close();
  expect(() => examine(path)).toThrow('start this version once');
  await openAt(path, systemClock).close();
  expect(examine(path)).toEqual([]);
});
