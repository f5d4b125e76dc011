import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
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
});
