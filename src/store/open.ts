import { realpathSync, statfsSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { messageOf, systemCode, WatchpostError } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import { keepPrivate, makePrivateFolderSync } from '#kernel/private-files.ts';
import { type BetterSQLite3Database, drizzle } from './drizzle.ts';
import { corruptMessage, storeError, unwritableMessage } from './errors.ts';
import { lockDatabase } from './lock.ts';
import { migrateDatabase } from './migrate.ts';

export interface OpenOptions {
  /** The database file. Its folder is made if only the last level of it is missing. */
  readonly path: string;
  /** The remedy for a database that is in use. */
  readonly pid: number;
  readonly log: Log;
}

export interface OpenDatabase extends Disposable {
  readonly path: string;
  readonly raw: Database.Database;
  readonly drizzle: BetterSQLite3Database;
  /** Whether commits wait for the disk from now on. */
  readonly waitForDisk: (waits: boolean) => void;
}

// Marks the file as ours, for `file` and for the next start: "WPst".
export const applicationId = 0x57507374;

// One page is written for each commit and each page costs 24 bytes more in the log: small pages suit small commits.
const pageBytes = 1_024;
const checkpointPages = 4_096;
const logBytes = 8_388_608;
// Its pages are in the page cache of the system too: a larger one fills up over days, and makes nothing faster.
const cacheKib = 4_096;
const busyMs = 100;
const longestCheckBytes = 268_435_456;

/** Opens the file, locks other daemons out, checks it and brings its tables up to date. Throws a `WatchpostError`. */
export function openDatabase({ path, pid, log }: OpenOptions): OpenDatabase {
  const file = locate(resolve(path), log);
  const lock = lockDatabase(file, pid);
  let raw: Database.Database | null = null;
  try {
    keepPrivate(file);
    raw = new Database(file, { timeout: busyMs });
    checkSoundness(raw, file, log);
    prepareFile(raw, file);
    migrateDatabase(raw, file, log);
    return release(file, raw, lock);
  } catch (error) {
    raw?.close();
    lock[Symbol.dispose]();
    throw storeError(file, error);
  }
}

function release(path: string, raw: Database.Database, lock: Disposable): OpenDatabase {
  let waiting = false;
  return {
    path,
    raw,
    drizzle: drizzle({ client: raw }),
    waitForDisk(waits) {
      // Said again at each commit it costs as much as a row.
      if (waits === waiting) return;
      raw.pragma(`synchronous = ${waits ? 'FULL' : 'NORMAL'}`);
      waiting = waits;
    },
    [Symbol.dispose]() {
      raw.close();
      lock[Symbol.dispose]();
    },
  };
}

// Two names of one file must give one lock, so links are followed first.
function locate(path: string, log: Log): string {
  const folder = dirname(path);
  try {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) {
      throw new WatchpostError(
        'store_unwritable',
        `${path}: is a folder; name a file in it, such as ${path}/watchpost.db`,
      );
    }
    makeFolder(folder, log);
    warnOfNetworkFolder(folder, log);
    if (statSync(path, { throwIfNoEntry: false }) !== undefined) return realpathSync(path);
    return join(realpathSync(folder), basename(path));
  } catch (error) {
    if (error instanceof WatchpostError) throw error;
    throw new WatchpostError('store_unwritable', folderMessage(path, error), { cause: error });
  }
}

function makeFolder(folder: string, log: Log): void {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) return;
  if (found !== undefined) throw new WatchpostError('store_unwritable', `${folder}: is a file; name another path`);
  makePrivateFolderSync(folder);
  log.info({ folder }, 'created the folder of the database');
}

function folderMessage(path: string, error: unknown): string {
  const folder = dirname(path);
  const reason = messageOf(error);
  switch (systemCode(error)) {
    case 'ENOENT':
      return `${path}: the folder ${dirname(folder)} does not exist; create it: mkdir -p '${folder}'`;
    case 'ENOTDIR':
      return `${path}: part of this path is a file; name another path`;
    default:
      return unwritableMessage(path, reason);
  }
}

const nfs = 0x6969;
// SMB, SMB2, 9p. Their locks and shared memory may not be what SQLite needs.
const doubtfulFilesystems = [0x517b, 0xfe534d42, 0xff534d42, 0x01021997];

/** Throws if a filesystem of this type (as statfs tells it) loses data, and says whether it may. */
export function isDoubtful(type: number, folder: string): boolean {
  if (type === nfs) {
    const text = `${folder}: is on NFS, where SQLite loses data. Name a file on a local disk in "data"; for a copy elsewhere there is "watchpost backup"`;
    throw new WatchpostError('store_unwritable', text);
  }
  return doubtfulFilesystems.includes(type);
}

function warnOfNetworkFolder(folder: string, log: Log): void {
  if (!isDoubtful(statfsSync(folder).type, folder)) return;
  log.warn({ folder }, 'database on a network filesystem: SQLite can lose data there, use a local disk');
}

function prepareFile(raw: Database.Database, file: string): void {
  const isEmpty = raw.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined;
  if (isEmpty) {
    raw.pragma(`page_size = ${pageBytes}`);
    raw.pragma('auto_vacuum = INCREMENTAL');
  } else if (raw.pragma('application_id', { simple: true }) !== applicationId) {
    const text = `${file}: is the database of another program; name a file of Watchpost's own`;
    throw new WatchpostError('store_corrupt', text);
  }
  // Writes at every start: SQLite opens a file that it may only read without a word, and even grants BEGIN IMMEDIATE.
  raw.pragma(`application_id = ${applicationId}`);
  if (raw.pragma('journal_mode = WAL', { simple: true }) !== 'wal') {
    const text = `${file}: its filesystem cannot hold a SQLite write-ahead log; put it on a local disk`;
    throw new WatchpostError('store_unwritable', text);
  }
  raw.pragma(`cache_size = -${cacheKib}`);
  raw.pragma('synchronous = NORMAL');
  raw.pragma(`wal_autocheckpoint = ${checkpointPages}`);
  raw.pragma(`journal_size_limit = ${logBytes}`);
}

function checkSoundness(raw: Database.Database, file: string, log: Log): void {
  const bytes = statSync(file).size;
  if (bytes > longestCheckBytes) {
    log.info({ file, bytes }, 'database is too large to check at start');
    return;
  }
  const found = raw.pragma('quick_check(1)', { simple: true });
  if (found !== 'ok') throw new WatchpostError('store_corrupt', corruptMessage(file, messageOf(found)));
}
