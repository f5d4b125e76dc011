import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { createReader } from '#history/create-reader.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { openAt, tempFolder } from '../support/store.ts';

const fixtures = new URL('../fixtures/schemas/', import.meta.url).pathname;
const schemas = globSync('*.sql', { cwd: fixtures }).map((name) => Number(name.replace('.sql', '')));

function restore(path: string, schema: number): Database.Database {
  const database = new Database(path);
  database.exec(readFileSync(join(fixtures, `${schema}.sql`), 'utf8'));
  return database;
}

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
    old.close();

    {
      await using store = openAt(path, new FakeClock());
      const open = store.load().flatMap(({ openIncidents }) => openIncidents);
      expect(open.filter(({ target }) => target === 'shop')).toMatchObject([{ rule: 'down', endedAt: null }]);
    }

    const now = new Database(path, { readonly: true });
    expect(tables.map((table) => count(now, table))).toEqual(before);
    expect(now.pragma('integrity_check', { simple: true })).toBe('ok');
    expect(now.prepare('PRAGMA foreign_key_check').all()).toEqual([]);
    now.close();
  });

  test('has its uptime by time for all that it holds', async () => {
    using folder = tempFolder();
    const path = join(folder.path, 'watchpost.db');
    const old = restore(path, schema);
    const span = old
      .prepare<[], { from: number; to: number }>('SELECT min(due_at) AS "from", max(due_at) + 1 AS "to" FROM results')
      .get() ?? { from: 0, to: 0 };
    old.close();

    const clock = new FakeClock(new Date(span.to + 3 * 3_600_000).toISOString());
    await using store = openAt(path, clock);
    while (store.upkeep());
    const reader = createReader({ source: store.history, targets: () => [], clock });
    const timeOf = async (target: string) => (await reader.figures({ ...span, of: { target } })).time;
    const [shop, web] = [await timeOf('shop'), await timeOf('web')];
    expect(shop).toMatchObject({ up: 0, partial: 0 });
    expect(shop?.down).toBeGreaterThan(0.5 * (span.to - span.from));
    expect((web?.up ?? 0) + (web?.down ?? 0)).toBeGreaterThan(0.5 * (span.to - span.from));
  });
});
