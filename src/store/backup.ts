import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { WatchpostError } from '#kernel/errors.ts';
import { keepPrivate } from '#kernel/private-files.ts';
import { storeError } from './errors.ts';
import { openReadOnly } from './reading.ts';

export interface BackupOptions {
  readonly signal: AbortSignal;
  /** Told again and again how much is copied, in bytes. */
  readonly onProgress?: (done: number, all: number) => void;
}

// Some milliseconds of work, between which the command can be interrupted.
const pagesAtOnce = 4_096;

/**
 * Copies a database as it is at this moment to a file that is not there yet; a daemon goes on writing. The copy has the name with
 * `.part` until it is whole and on the disk. Gives its size in bytes. Rejects with the signal's reason.
 */
export async function backUp(path: string, copy: string, { signal, onProgress }: BackupOptions): Promise<number> {
  if (existsSync(copy)) throw new WatchpostError('usage', `${copy}: already exists; name a new file`);
  const folder = dirname(copy);
  if (!existsSync(folder)) throw new WatchpostError('usage', `${copy}: there is no folder ${folder}; make it first`);
  const part = `${copy}.part`;
  const database = openReadOnly(path);
  try {
    // What an earlier one left that was killed.
    removePart(part);
    keepPrivate(part);
    await copyPages(database, part, { signal, ...(onProgress === undefined ? {} : { onProgress }) });
    finish(part);
    renameSync(part, copy);
    sync(folder);
    return statSync(copy).size;
  } catch (error) {
    removePart(part);
    throw signal.aborted ? signal.reason : storeError(copy, error);
  } finally {
    database.close();
  }
}

async function copyPages(
  database: Database.Database,
  part: string,
  { signal, onProgress }: BackupOptions,
): Promise<void> {
  signal.throwIfAborted();
  const bytes = Number(database.pragma('page_size', { simple: true }));
  // One moment: without it, the copy would begin anew with each write of a daemon.
  database.exec('BEGIN');
  database.prepare('SELECT 1 FROM sqlite_schema').get();
  await database.backup(part, {
    progress({ totalPages, remainingPages }) {
      signal.throwIfAborted();
      onProgress?.((totalPages - remainingPages) * bytes, totalPages * bytes);
      return pagesAtOnce;
    },
  });
}

// A copy is one file, which can be read where nothing can be written beside it.
function finish(part: string): void {
  const made = new Database(part);
  try {
    made.pragma('journal_mode = DELETE');
  } finally {
    made.close();
  }
  sync(part);
}

function sync(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function removePart(part: string): void {
  for (const end of ['', '-journal', '-wal', '-shm']) rmSync(`${part}${end}`, { force: true });
}
