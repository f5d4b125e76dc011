import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dayMs, hourMs } from '#kernel/units.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { closing, down, openAt, opening, round, start, tempFolder, up, vote } from '../support/store.ts';

const minute = 60_000;
const page = readFileSync(new URL('../../docs/storage.md', import.meta.url), 'utf8');
const documented = [...page.matchAll(/^sqlite3 .*?"(SELECT [^"]+)"$/gm)].map(([, query = '']) => query);

const folder = tempFolder();
const path = join(folder.path, 'watchpost.db');
let database: Database.Database;

// Two targets at two nodes for a day and a half; shop is down for ten minutes in the first hour and in the last.
beforeAll(async () => {
  const end = start + dayMs + 12 * hourMs;
  const clock = new FakeClock(new Date(start).toISOString());
  await using store = openAt(path, clock);
  const stored: Promise<unknown>[] = [];
  for (let at = start; at < end; at += minute) {
    const isDown = Math.floor((at - start) / minute) % (35 * 60) < 10;
    for (const target of ['shop', 'mail']) {
      const isOut = isDown && target === 'shop';
      const votes = ['de1', 'us1'].map((node) => vote(node, isOut ? down() : up(0.01)));
      const verdict = { status: isOut ? 'down' : 'up', inMaintenance: false, holdsMs: 2 * minute } as const;
      stored.push(store.record(round(target, at, { votes, verdict })));
    }
  }
  stored.push(
    store.record(opening('shop', start + minute)),
    store.record(closing('shop', start + minute, start + 9 * minute)),
  );
  stored.push(store.record(opening('shop', start + 35 * hourMs)));
  await clock.advance(end - start);
  await Promise.all(stored);
  while (store.upkeep());
  await store.close();
  database = new Database(path, { readonly: true });
});

afterAll(() => {
  database.close();
  folder[Symbol.dispose]();
});

test('every view is in a documented query', () => {
  for (const view of ['history', 'hours', 'days', 'outages']) {
    expect(documented.some((query) => query.includes(`FROM ${view} `))).toBe(true);
  }
});

// A row that is looked up by its key, or a table that lies in the order that is asked for.
test.each(documented)('%s runs, and finds its rows by a key', (query) => {
  const plan = database
    .prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN ${query}`)
    .all()
    .map(({ detail }) => detail);
  expect(() => database.prepare(query).all()).not.toThrow();
  for (const step of plan) {
    if (/results|sealed_|periods|incidents/.test(step) && !/ORDER BY due_at DESC LIMIT/.test(query))
      expect(step).toMatch(
        /^SEARCH .* USING (?:COVERING )?(?:PRIMARY KEY|INDEX)|^SCAN incidents USING INDEX incidents_open/,
      );
  }
  if (query.includes('ORDER BY')) expect(plan.join('\n')).not.toContain('USE TEMP B-TREE FOR ORDER BY');
});

test('a target and a span are one range of the key of hours and days', () => {
  const plan = (query: string) =>
    database
      .prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN ${query}`)
      .all()
      .map(({ detail }) => detail)
      .join('\n');
  expect(plan("SELECT * FROM hours WHERE target = 'shop' AND node = 'de1' AND hour >= 490896")).toContain(
    'SEARCH sealed_hours USING PRIMARY KEY (target_id=? AND node_id=? AND hour>?',
  );
  expect(plan("SELECT * FROM days WHERE target = 'shop' AND day >= 20454")).toContain(
    'SEARCH sealed_days USING PRIMARY KEY (target_id=? AND node_id=? AND day>?',
  );
  expect(plan("SELECT * FROM outages WHERE target = 'shop' AND from_at >= 1767225600000")).toContain(
    'SEARCH verdict_periods USING PRIMARY KEY (target_id=? AND from_at>?)',
  );
});

test('the views show what there is', () => {
  const all = (query: string) => database.prepare(query).all();
  expect(
    all("SELECT at, node, up, down, min, mean FROM hours WHERE target = 'shop' AND hour = 490896 ORDER BY node"),
  ).toEqual([
    { at: '2026-01-01T00:00Z', node: 'de1', up: 51, down: 10, min: 0.01, mean: expect.closeTo(0.01) },
    { at: '2026-01-01T00:00Z', node: 'us1', up: 50, down: 10, min: 0.01, mean: expect.closeTo(0.01) },
  ]);
  expect(all("SELECT at, target, up, down FROM days WHERE node = 'us1' ORDER BY target")).toEqual([
    { at: '2026-01-01', target: 'mail', up: 1_440, down: 0 },
    { at: '2026-01-01', target: 'shop', up: 1_430, down: 10 },
  ]);
  expect(all('SELECT target, began, ended, seconds FROM outages ORDER BY from_at')).toEqual([
    { target: 'shop', began: '2026-01-01T00:00:00.000Z', ended: '2026-01-01T00:10:00.000Z', seconds: 600 },
    { target: 'shop', began: '2026-01-02T11:00:00.000Z', ended: '2026-01-02T11:10:00.000Z', seconds: 600 },
  ]);
  expect(
    all("SELECT at, due_at, status FROM history WHERE node = 'us1' AND target = 'shop' ORDER BY due_at DESC LIMIT 1"),
  ).toEqual([{ at: '2026-01-02T11:59:00.000Z', due_at: start + dayMs + 12 * hourMs - minute, status: 'up' }]);
});
