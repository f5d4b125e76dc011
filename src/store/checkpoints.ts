import Database from 'better-sqlite3';
import type { Clock } from '#kernel/clock.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import type { OpenDatabase } from './open.ts';

// A page that is written again meanwhile is copied once, so a long log saves writes; so many pages at once are a short hold.
const pagesAtOnce = 4_500;
const pieces = 4;
const pauseMs = 50;
// Then SQLite copies all of it with the next commit.
const longestLogPages = 4 * pieces * pagesAtOnce;
const logBytes = 20_971_520;

/**
 * The same file, whose log is copied into it when it is long, in pieces that hold up nothing. SQLite copies what no reader needs in
 * the log, so a reader that began when the first piece was full keeps it from copying more. Before each write it looks how long the
 * log is.
 */
export function withCheckpoints(file: OpenDatabase, { clock, log }: { clock: Clock; log: Log }): OpenDatabase {
  const { path, raw } = file;
  raw.pragma(`wal_autocheckpoint = ${longestLogPages}`);
  raw.pragma(`journal_size_limit = ${logBytes}`);
  const state = raw.prepare<[], { log: number }>('PRAGMA wal_checkpoint(NOOP)');
  const copy = raw.prepare('PRAGMA wal_checkpoint(PASSIVE)');
  const logPages = () => state.get()?.log ?? 0;
  /** The oldest one first. */
  const readers: Database.Database[] = [];
  let nextPiece: Disposable | null = null;
  // How long the log was when it was copied last: what another program reads, or the disk refuses, is not tried again at once.
  let copiedAt = 0;

  function look(): void {
    if (nextPiece !== null) return;
    const pages = logPages();
    if (pages < copiedAt) copiedAt = 0;
    if (pages - copiedAt < (readers.length + 1) * pagesAtOnce) return;
    if (readers.length === pieces - 1) nextPiece = clock.after(pauseMs, copyPiece);
    else if (!tryTo(() => readers.push(readerAt(path)))) copiedAt = pages;
  }

  function copyPiece(): void {
    tryTo(() => copy.get());
    const oldest = readers.shift();
    oldest?.close();
    nextPiece = oldest === undefined ? null : clock.after(pauseMs, copyPiece);
    if (nextPiece === null) copiedAt = logPages();
  }

  function tryTo(action: () => unknown): boolean {
    try {
      action();
      return true;
    } catch (error) {
      log.error({ err: error }, `cannot copy the log of the database into it: ${messageOf(error)}`);
      return false;
    }
  }

  return {
    ...file,
    waitForDisk(waits) {
      look();
      file.waitForDisk(waits);
    },
    [Symbol.dispose]() {
      nextPiece?.[Symbol.dispose]();
      for (const reader of readers.splice(0)) reader.close();
      file[Symbol.dispose]();
    },
  };
}

/** A connection whose transaction sees what is stored now, for as long as it is open. It reads no more than the first page. */
function readerAt(path: string): Database.Database {
  const reader = new Database(path, { readonly: true });
  reader.exec('BEGIN');
  reader.pragma('application_id');
  return reader;
}
