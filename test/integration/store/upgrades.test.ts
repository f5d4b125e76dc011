import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { createReader } from '#history/create-reader.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { openAt, tempFolder } from '../../support/store.ts';

const fixtures = new URL('../../fixtures/schemas/', import.meta.url).pathname;
const schemas = globSync('*.sql', { cwd: fixtures }).map((name) => Number(name.replace('.sql', '')));

function restore(path: string, schema: number): Database.Database {
  const database = new Database(path);
  database.exec(readFileSync(join(fixtures, `${schema}.sql`), 'utf8'));
  return database;
}

// From this schema on a round is stored with its verdict.
const firstWithVerdicts = 8;

test('there is a database of every schema that was, from the first on', () => {
  expect(schemas.toSorted((one, other) => one - other)).toEqual(schemas.map((_, index) => index + 1));
});

// Each was written by the program of its time, with one target down and one up.
describe.each(schemas)('a database of schema %i', (schema) => {
  test('is brought up to date, and keeps its history, incidents and messages', async () => {
    using folder = tempFolder();
    const path = join(folder.path, 'watchpost.db');
    const old = restore(path, schema);
    expect(old.pragma('user_version', { simple: true })).toBe(schema);
    const count = (database: Database.Database, table: string) =>
      database.prepare<[], { count: number }>(`SELECT count(*) AS count FROM ${table}`).get()?.count;
    const tables = ['results', 'incidents', 'deliveries', 'rule_states', 'targets', 'nodes', 'history'];
    const before = tables.map((table) => count(old, table));
    expect(before.every((rows) => rows !== undefined && rows > 0)).toBe(true);
    const stories = old.prepare<[], { story: string }>('SELECT story FROM incidents WHERE ended_at IS NULL').all();
    const notified = stories.map(({ story }) => {
      const { notified: current, told: former = null } = JSON.parse(story) as Record<'notified' | 'told', unknown>;
      return current ?? former;
    });
    old.close();

    {
      await using store = openAt(path, new FakeClock());
      const open = store.load().flatMap(({ openIncidents }) => openIncidents);
      expect(open.filter(({ target }) => target === 'shop')).toMatchObject([{ rule: 'down', endedAt: null }]);
      expect(open.map((incident) => incident.notified)).toEqual(notified);
    }

    const now = new Database(path, { readonly: true });
    expect(tables.map((table) => count(now, table))).toEqual(before);
    expect(now.pragma('integrity_check', { simple: true })).toBe('ok');
    expect(now.prepare('PRAGMA foreign_key_check').all()).toEqual([]);
    now.close();
  });

  test.each([
    ['three hours later', 3 * 3_600_000],
    ['within the hour of its last results', 1_000],
  ])('has its uptime by time for all that it holds, if it is opened %s', async (_, laterMs) => {
    using folder = tempFolder();
    const path = join(folder.path, 'watchpost.db');
    const old = restore(path, schema);
    const span = old
      .prepare<[], { from: number; to: number }>('SELECT min(due_at) AS "from", max(due_at) + 1 AS "to" FROM results')
      .get() ?? { from: 0, to: 0 };
    old.close();

    const clock = new FakeClock(new Date(span.to + laterMs).toISOString());
    await using store = openAt(path, clock);
    const reader = createReader({ source: store.history, targets: () => [], clock });
    const figuresOf = (target: string) => reader.figures({ ...span, of: { target } });
    if (schema < firstWithVerdicts) {
      expect(await figuresOf('shop')).toMatchObject({ uptime: null, verdictsFrom: Infinity });
      const { parts } = await reader.series({ ...span, of: { target: 'shop' }, isTimeOnly: true });
      expect(parts.some(({ verdictsFrom }) => verdictsFrom === Infinity)).toBe(true);
    }
    while (store.upkeep());
    expect(await figuresOf('shop')).toMatchObject({ uptime: 0, verdictsFrom: null });
    const [shop, web] = [(await figuresOf('shop')).time, (await figuresOf('web')).time];
    expect(shop).toMatchObject({ up: 0, partial: 0 });
    expect(shop?.down).toBeGreaterThan(0.5 * (span.to - span.from));
    expect((web?.up ?? 0) + (web?.down ?? 0)).toBeGreaterThan(0.5 * (span.to - span.from));
  });
});
