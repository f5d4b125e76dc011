import { copyFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { healthOf } from '#compose/health.ts';
import { systemClock } from '#kernel/clock.ts';
import type { Store } from '#store/sqlite.ts';
import { startWebServer } from '#web/server.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { memoryLog } from '../support/memory-log.ts';
import { silentLog } from '../support/metrics.ts';
import { openAt, opening, start, tempFolder } from '../support/store.ts';

async function serve(store: Store, clock: FakeClock) {
  const web = await startWebServer({
    listen: { host: '127.0.0.1', port: 0 },
    clock: systemClock,
    log: silentLog,
    metrics: { contentType: 'text/plain', text: async () => '' },
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
  expect(kept.errors()).toEqual(['database file is not the one that was opened']);
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
