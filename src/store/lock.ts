import Database from 'better-sqlite3';
import { messageOf, WatchpostError } from '#kernel/errors.ts';
import { keepPrivate } from '#kernel/private-files.ts';
import { codeOf, storeError } from './errors.ts';

/** The file that keeps a second daemon away from a database. */
export function lockPathOf(path: string): string {
  return `${path}.lock`;
}

/**
 * Keeps a second daemon away from a database, while readers and backups stay welcome. The lock is a write transaction that is
 * never committed on a database of its own, `<path>.lock`: the kernel drops it with the process, even on `kill -9`. Its
 * user_version tells who holds it.
 */
export function lockDatabase(path: string, pid: number): Disposable {
  const lockPath = lockPathOf(path);
  const database = openLock(path, lockPath);
  try {
    database.exec('BEGIN IMMEDIATE');
    database.pragma(`user_version = ${pid}`);
    database.exec('COMMIT');
    database.exec('BEGIN IMMEDIATE');
    return { [Symbol.dispose]: () => void database.close() };
  } catch (error) {
    const refusal = refusalOf(path, lockPath, database, error);
    database.close();
    throw refusal;
  }
}

function openLock(path: string, lockPath: string): Database.Database {
  try {
    keepPrivate(lockPath);
    const database = new Database(lockPath, { timeout: 0 });
    database.pragma('page_size = 512');
    return database;
  } catch (error) {
    throw storeError(path, error);
  }
}

function refusalOf(path: string, lockPath: string, database: Database.Database, error: unknown): WatchpostError {
  const code = codeOf(error) ?? '';
  if (code.startsWith('SQLITE_BUSY')) {
    const text = `${path}: in use by another running watchpost (process ${holderOf(database)}); stop that one first`;
    return new WatchpostError('store_unwritable', text, { cause: error });
  }
  if (code.startsWith('SQLITE_NOTADB') || code.startsWith('SQLITE_CORRUPT')) {
    const text = `${lockPath}: not a lock file of Watchpost (${messageOf(error)}); remove it, it holds no data`;
    return new WatchpostError('store_unwritable', text, { cause: error });
  }
  return storeError(path, error);
}

function holderOf(database: Database.Database): string {
  try {
    return String(database.pragma('user_version', { simple: true }));
  } catch (error) {
    if (codeOf(error)?.startsWith('SQLITE_BUSY') === true) return 'unknown';
    throw error;
  }
}
