import { drizzle, migrate } from './drizzle.ts';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type Database from 'better-sqlite3';
import { z } from 'zod';
import { WatchpostError } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';

const folder = join(import.meta.dirname, '../../migrations');
const Journal = z.object({ entries: z.array(z.object({ when: z.number() })) });
const Applied = z.object({ count: z.number(), newest: z.number().nullable() });

/**
 * Brings the tables up to date; one transaction, so that an interrupted migration leaves the old tables. The number of the
 * schema is the number of migrations, and stands in user_version for people to read.
 */
export function migrateDatabase(raw: Database.Database, file: string, log: Log): void {
  const { entries } = readJournal();
  const applied = readApplied(raw);
  const newest = entries.at(-1)?.when ?? 0;
  if (applied.count > entries.length || (applied.newest ?? 0) > newest) {
    const text = `${file}: written by a newer Watchpost (schema ${applied.count}, this one knows up to ${entries.length}); install that version, or put back a backup made before it`;
    throw new WatchpostError('store_newer', text);
  }
  // A migration that rebuilds a table would otherwise delete the rows that point at it.
  raw.pragma('foreign_keys = OFF');
  if (applied.count < entries.length) {
    // It may take long, and until it is done nothing else is logged.
    if (applied.count > 0) log.info({ file, from: applied.count, to: entries.length }, 'migrating tables');
    migrate(drizzle({ client: raw }), { migrationsFolder: folder });
  }
  // A dump that was read back has lost it, and commands go by it.
  if (Number(raw.pragma('user_version', { simple: true })) !== entries.length)
    raw.pragma(`user_version = ${entries.length}`);
  raw.pragma('foreign_keys = ON');
}

/** The number of the schema that this version writes. */
export function schemaNumber(): number {
  return readJournal().entries.length;
}

function readJournal(): z.output<typeof Journal> {
  return Journal.parse(JSON.parse(readFileSync(join(folder, 'meta/_journal.json'), 'utf8')));
}

function readApplied(raw: Database.Database): z.output<typeof Applied> {
  const table = raw.prepare(`SELECT 1 FROM sqlite_schema WHERE name = '__drizzle_migrations'`).get();
  if (table === undefined) return { count: 0, newest: null };
  return Applied.parse(
    raw.prepare('SELECT count(*) AS count, max(created_at) AS newest FROM __drizzle_migrations').get(),
  );
}
