import { existsSync } from 'node:fs';
import Database from 'better-sqlite3';
import type { HistorySource } from '#history/source.ts';
import { WatchpostError } from '#kernel/errors.ts';
import type { Device } from '#subscriptions/device-store.ts';
import { storeError } from './errors.ts';
import { createHistorySource } from './history.ts';
import { applicationId } from './open.ts';
import { schemaNumber } from './migrate.ts';
import { readHistoryParts } from './sealing/parts.ts';
import { readNewestPeriods } from './verdict-periods.ts';

/** A database that is only read, as it was when it was opened, whatever a daemon writes meanwhile. */
export interface ReadOnlyStore extends Disposable {
  readonly source: HistorySource;
}

const farFuture = Number.MAX_SAFE_INTEGER;

/** Opens a database beside a daemon or without one. Throws a `WatchpostError` with the way out. */
export function openForReading(path: string): ReadOnlyStore {
  const database = openReadOnly(path);
  try {
    requireSchema(database, path);
    database.exec('BEGIN');
    const parts = readHistoryParts(database, { now: () => farFuture });
    const known = readNewestPeriods(database, parts.marks.get('hours_until'), farFuture);
    const newest = new Map(Array.from(known, ([targetId, { period }]) => [targetId, period]));
    const source = createHistorySource({ ...parts, database, newest: () => newest });
    return { source, [Symbol.dispose]: () => void database.close() };
  } catch (error) {
    database.close();
    throw storeError(path, error);
  }
}

/** What a database knows of what was watched. */
export interface StoredNames {
  readonly targets: readonly string[];
  /** The open ones, with the recipients that were notified of them. */
  readonly incidents: readonly {
    readonly id: string;
    readonly target: string;
    readonly rule: string;
    readonly severity: 'critical' | 'warning' | 'info';
    readonly notified: readonly { readonly channel: string; readonly recipient: string }[];
    readonly isHeld: boolean;
  }[];
}

/** What is known of what was watched, or null if there is no database yet. */
export function storedBy(path: string): StoredNames | null {
  if (!existsSync(path)) return null;
  using opened = openForReading(path);
  const { source } = opened;
  const span = { from: 0, to: Number.MAX_SAFE_INTEGER };
  const open = source.incidents({ ...span, target: null, isOpen: true, after: null, limit: 10_000 });
  return {
    targets: [...source.newestPeriods().keys()],
    incidents: open.map(({ id, target, rule, severity, held }) => {
      const begun = (source.incident(id)?.deliveries ?? []).filter(({ kind }) => kind === 'opened');
      const notified = begun.map(({ channel, recipient }) => ({ channel, recipient }));
      return { id, target, rule, severity, notified, isHeld: held !== null };
    }),
  };
}

/** The devices that get push notifications, and the secret of their keys; null if there is no database yet, or no key in it. */
export function storedDevices(path: string): { readonly devices: readonly Device[]; readonly secret: string } | null {
  if (!existsSync(path)) return null;
  const database = openReadOnly(path);
  try {
    requireSchema(database, path);
    const key = database.prepare<[], { value: string }>(`SELECT value FROM facts WHERE name = 'push key'`).get();
    if (key === undefined) return null;
    const devices = database
      .prepare<[], Device>(
        `SELECT id, recipient, name, user, origin, endpoint, p256dh, auth, created_at AS createdAt FROM devices
         ORDER BY created_at, id`,
      )
      .all();
    return { devices, secret: key.value };
  } catch (error) {
    throw storeError(path, error);
  } finally {
    database.close();
  }
}

/** What is damaged in a database, in words; empty if nothing is. */
export function examine(path: string): readonly string[] {
  const database = openReadOnly(path);
  try {
    requireSchema(database, path);
    const found = database.prepare<[], { integrity_check: string }>('PRAGMA integrity_check(20)').all();
    const damage = found.map(({ integrity_check: text }) => text).filter((text) => text !== 'ok');
    const orphans = database.prepare<[], { table: string }>('PRAGMA foreign_key_check').all();
    return [...damage, ...orphans.map(({ table }) => `a row of ${table} points at a row that is not there`)];
  } catch (error) {
    throw storeError(path, error);
  } finally {
    database.close();
  }
}

/** Opens a database of Watchpost to be read only. Throws a `WatchpostError` with the way out. */
export function openReadOnly(path: string): Database.Database {
  if (!existsSync(path)) {
    throw new WatchpostError('store_failed', `${path}: there is no database yet; "watchpost run" makes it`);
  }
  try {
    const database = new Database(path, { readonly: true, timeout: 2_000 });
    if (database.pragma('application_id', { simple: true }) === applicationId) return database;
    database.close();
  } catch (error) {
    throw storeError(path, error);
  }
  throw new WatchpostError('store_corrupt', `${path}: is not a database of Watchpost`);
}

function requireSchema(database: Database.Database, path: string): void {
  const found = Number(database.pragma('user_version', { simple: true }));
  const known = schemaNumber();
  if (found === known) return;
  const wayOut = found < known ? 'start this version once: it brings the tables up to date' : 'install that version';
  throw new WatchpostError('store_newer', `${path}: has schema ${found}, this version reads ${known}; ${wayOut}`);
}
