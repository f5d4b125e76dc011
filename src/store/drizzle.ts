import { createRequire } from 'node:module';
import type Database from 'better-sqlite3';
import type * as Common from 'drizzle-orm';
import type * as Driver from 'drizzle-orm/better-sqlite3';
import type * as Migrator from 'drizzle-orm/better-sqlite3/migrator';
import type * as Core from 'drizzle-orm/sqlite-core';

// Behind `import`, Node parses the manifest of a package anew for each of its modules. This one's has 179 kB, for 133 modules: at
// every start that took 0.7 s of CPU and 230 MB. Behind `require` it is parsed once.
const load = createRequire(import.meta.url);
/* oxlint-disable typescript/no-unsafe-type-assertion -- the same package by its other entry, with the same types */
const common = load('drizzle-orm') as typeof Common;
const core = load('drizzle-orm/sqlite-core') as typeof Core;
const driver = load('drizzle-orm/better-sqlite3') as typeof Driver;
const migrator = load('drizzle-orm/better-sqlite3/migrator') as typeof Migrator;

export type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3';
export const { and, asc, desc, eq, gt, gte, inArray, isNotNull, isNull, lt, lte, min, or, sql } = common;
export const { alias, blob, index, integer, primaryKey, real, sqliteTable, sqliteView, text, uniqueIndex } = core;
export const { drizzle } = driver;
export const { migrate } = migrator;

/**
 * A statement that Drizzle wrote, for the driver itself: what Drizzle does for each run costs more than the row. Its values stand in the
 * order of the text, so nothing but placeholders may be bound.
 */
export function prepareRaw<Values extends unknown[], Row = unknown>(
  raw: Database.Database,
  statement: { toSQL(): { readonly sql: string; readonly params: readonly unknown[] } },
): Database.Statement<Values, Row> {
  const { sql: text, params } = statement.toSQL();
  const bound = params.find((value) => typeof value !== 'object' || value === null);
  if (bound !== undefined) throw new TypeError(`${text} binds ${JSON.stringify(bound)}`);
  return raw.prepare<Values, Row>(text);
}
