import process from 'node:process';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { messageOf, systemCode, WatchpostError } from '#kernel/errors.ts';

/** The code that SQLite or the system gave, wherever it stands in the chain of causes: `SQLITE_FULL`, `EACCES`. */
export function codeOf(error: unknown): string | null {
  const root = rootOf(error);
  return root instanceof Database.SqliteError ? root.code : systemCode(root);
}

/** What SQLite or the system said, without the query around it. */
export function reasonOf(error: unknown): string {
  return messageOf(rootOf(error) ?? error);
}

function rootOf(error: unknown): Error | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof Database.SqliteError || systemCode(cause)?.startsWith('E') === true) return cause;
  }
  return null;
}

const rowTrouble = ['SQLITE_CONSTRAINT', 'SQLITE_MISMATCH', 'SQLITE_TOOBIG', 'SQLITE_RANGE', 'SQLITE_ERROR'];

/** True if the database as a whole refuses (full, busy, broken disk), so that the same write may succeed later. */
export function isOutage(error: unknown): boolean {
  const code = codeOf(error);
  return code !== null && !rowTrouble.some((prefix) => code.startsWith(prefix));
}

/** What an error means for the file, with the way out. An error that says so already is handed back as it is. */
export function storeError(path: string, error: unknown): WatchpostError {
  if (error instanceof WatchpostError) return error;
  const code = codeOf(error) ?? '';
  const options = { cause: error };
  if (code.startsWith('SQLITE_NOTADB') || code.startsWith('SQLITE_CORRUPT')) {
    return new WatchpostError('store_corrupt', corruptMessage(path, reasonOf(error)), options);
  }
  if (code.startsWith('SQLITE_BUSY')) {
    const text = `${path}: another program holds the database locked; end it and start again`;
    return new WatchpostError('store_unwritable', text, options);
  }
  if (code.startsWith('SQLITE_FULL') || code === 'ENOSPC') {
    return new WatchpostError('store_unwritable', `${path}: the disk is full; make room and start again`, options);
  }
  if (unwritable.some((prefix) => code.startsWith(prefix))) {
    return new WatchpostError('store_unwritable', unwritableMessage(path, reasonOf(error)), options);
  }
  return new WatchpostError('store_failed', `${path}: ${reasonOf(error)}`, options);
}

const unwritable = [
  'SQLITE_READONLY',
  'SQLITE_CANTOPEN',
  'SQLITE_PERM',
  'SQLITE_IOERR',
  'EACCES',
  'EPERM',
  'EROFS',
  'ENOENT',
];

export function corruptMessage(path: string, reason: string): string {
  return (
    `${path}: not a sound database (${reason}). Keep a copy of it, then put back a backup or move the file and its -wal ` +
    `away to start empty; sqlite3 '${path}' 'PRAGMA quick_check' lists the damage`
  );
}

export function unwritableMessage(path: string, reason: string): string {
  // A container may run as a user that has no entry in /etc/passwd.
  const uid = process.getuid?.() ?? 'that runs it';
  const folder = dirname(path);
  return `${path}: cannot be written (${reason}). Mount its disk writable and give user ${uid} the folder: chown -R ${uid} '${folder}'`;
}
