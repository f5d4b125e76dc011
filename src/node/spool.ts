import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import type { Clock } from '#kernel/clock.ts';
import { messageOf, WatchpostError } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import { keepPrivate, makePrivateFolderSync } from '#kernel/private-files.ts';
import type { Spool } from './ports.ts';

export interface SpoolOptions {
  /** The file, or `:memory:`. */
  readonly path: string;
  readonly longestMs: number;
  readonly most: number;
  readonly clock: Clock;
  readonly log: Log;
}

interface SpoolRow {
  readonly id: string;
}

const expireEveryMs = 1_000;
// After an absence, the time of the spool catches up with the clock in as much time as that took.
const timeSpeed = 2;
// Another process that reads the file must not stop the checks for long.
const busyMs = 1_000;

/** Opens or creates a spool. Throws `store_unwritable` if the file cannot be used. */
export function openSpool({ path, longestMs, most, clock, log }: SpoolOptions): Spool {
  const database = open(path);
  const statements = prepare(database);
  let size = statements.count.get()?.count ?? 0;
  let dropped = 0;
  let newestDroppedAt: number | null = null;

  const drop = (rows: readonly { readonly at: number }[], reason: string): void => {
    const count = rows.length;
    if (count === 0) return;
    newestDroppedAt = rows.reduce((newest, { at }) => Math.max(newest, at), newestDroppedAt ?? 0);
    if (dropped === 0) log.error({ count, reason }, 'dropping results that the hub never confirmed');
    dropped += count;
    size -= count;
  };

  // Each time it visits what waits the longest, so it is not for each result.
  // What waits is as old as the time that passed says, not as a clock that was set forward does.
  let age = {
    at: Math.min(statements.newestAt.get()?.at ?? Number.POSITIVE_INFINITY, clock.now()),
    elapsed: clock.elapsed(),
  };
  let isLooked = false;
  const expire = (): void => {
    const [now, elapsed] = [clock.now(), clock.elapsed()];
    const passed = elapsed - age.elapsed;
    if (isLooked && passed < expireEveryMs) return;
    isLooked = true;
    age = { at: size === 0 ? now : Math.min(now, age.at + timeSpeed * passed), elapsed };
    drop(statements.expire.all(age.at - longestMs), 'too old');
  };

  return {
    get size() {
      return size;
    },
    get dropped() {
      return dropped;
    },
    get newestDroppedAt() {
      return newestDroppedAt;
    },
    put(id, payload) {
      expire();
      if (size >= most) drop(statements.dropOldest.all(size - most + 1), 'too many');
      size += statements.insert.run(id, clock.now(), payload).changes;
    },
    payload: (id) => statements.select.get(id)?.payload ?? null,
    remove(id) {
      size -= statements.remove.run(id).changes;
    },
    newest(limit) {
      expire();
      return statements.newest.all(limit).map(({ id }) => id);
    },
    assignment: () => statements.assignment.get()?.payload ?? null,
    keepAssignment: (payload) => void statements.keepAssignment.run(payload),
    close: () => database.close(),
  };
}

function open(path: string): Database.Database {
  try {
    if (path !== ':memory:') {
      makePrivateFolderSync(dirname(path), { recursive: true });
      keepPrivate(path);
    }
    const database = new Database(path, { timeout: busyMs });
    // What was written survives the end of the process; a power cut may take the last seconds, never the file.
    database.pragma('journal_mode = WAL');
    database.pragma('synchronous = NORMAL');
    database.exec(
      'CREATE TABLE IF NOT EXISTS spool (' +
        'number INTEGER PRIMARY KEY, ticket TEXT NOT NULL UNIQUE, at INTEGER NOT NULL, payload TEXT NOT NULL) STRICT',
    );
    database.exec(
      'CREATE TABLE IF NOT EXISTS assignment (number INTEGER PRIMARY KEY CHECK (number = 1), payload TEXT NOT NULL) STRICT',
    );
    return database;
  } catch (error) {
    const reason = `${path}: results cannot be kept here: ${messageOf(error)}; name a writable file, or delete a broken one`;
    throw new WatchpostError('store_unwritable', reason, { cause: error });
  }
}

// One table in a file of its own, and no Drizzle: a node loads no more than it runs.
function prepare(database: Database.Database) {
  return {
    assignment: database.prepare<[], { payload: string }>('SELECT payload FROM assignment'),
    keepAssignment: database.prepare<[string]>('INSERT OR REPLACE INTO assignment (number, payload) VALUES (1, ?)'),
    newestAt: database.prepare<[], { at: number }>('SELECT at FROM spool ORDER BY number DESC LIMIT 1'),
    count: database.prepare<[], { count: number }>('SELECT count(*) AS count FROM spool'),
    insert: database.prepare<[string, number, string]>(
      'INSERT OR IGNORE INTO spool (ticket, at, payload) VALUES (?, ?, ?)',
    ),
    select: database.prepare<[string], { payload: string }>('SELECT payload FROM spool WHERE ticket = ?'),
    remove: database.prepare<[string]>('DELETE FROM spool WHERE ticket = ?'),
    newest: database.prepare<[number], SpoolRow>('SELECT ticket AS id FROM spool ORDER BY number DESC LIMIT ?'),
    expire: database.prepare<[number], { at: number }>(
      'DELETE FROM spool WHERE number IN (SELECT number FROM spool ORDER BY number LIMIT 1000) AND at < ? RETURNING at',
    ),
    dropOldest: database.prepare<[number], { at: number }>(
      'DELETE FROM spool WHERE number IN (SELECT number FROM spool ORDER BY number LIMIT ?) RETURNING at',
    ),
  };
}
