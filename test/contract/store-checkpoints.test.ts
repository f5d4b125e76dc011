import { renameSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { withCheckpoints } from '#store/checkpoints.ts';
import { openDatabase } from '#store/open.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { memoryLog } from '../support/memory-log.ts';
import { quiet, type TempFolder, tempFolder } from '../support/store.ts';

// A row has a page of its own, and each commit some more.
const rowBytes = 900;
const rowsAtOnce = 500;

function open(folder: TempFolder) {
  const path = join(folder.path, 'watchpost.db');
  const clock = new FakeClock();
  const { log, lines } = memoryLog();
  const file = withCheckpoints(openDatabase({ path, pid: process.pid, log: quiet }), { clock, log });
  file.raw.exec('CREATE TABLE filler (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL)');
  const insert = file.raw.prepare('INSERT INTO filler (bytes) VALUES (randomblob(?))');
  const state = () => {
    const [found] = file.raw.pragma('wal_checkpoint(NOOP)') as { log: number; checkpointed: number }[];
    return { log: found?.log ?? 0, copied: found?.checkpointed ?? 0 };
  };
  /** How much was copied at a time. */
  const pieces: number[] = [];
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 50) {
      const before = state().copied;
      await clock.advance(50);
      if (state().copied > before) pieces.push(state().copied - before);
    }
  };
  return {
    path,
    lines,
    state,
    pieces,
    pass,
    /** Makes commits of some 500 pages each, one every second. */
    commit: async (times: number) => {
      for (let time = 0; time < times; time += 1) {
        file.waitForDisk(false);
        file.raw.transaction(() => {
          for (let row = 0; row < rowsAtOnce; row += 1) insert.run(rowBytes);
        })();
        await pass(1_000);
      }
    },
    rows: () => file.raw.prepare('SELECT count(*) FROM filler').pluck().get(),
    [Symbol.dispose]() {
      file[Symbol.dispose]();
    },
  };
}

test('a long log is copied in four pieces, and begins anew', async () => {
  using folder = tempFolder();
  using file = open(folder);
  const { state, pieces, commit, lines } = file;
  while (pieces.length === 0 && state().log < 30_000) await commit(1);
  expect(state().log).toBeGreaterThan(18_000);
  expect(state().log).toBeLessThan(19_500);
  expect(pieces).toHaveLength(4);
  expect(Math.max(...pieces)).toBeLessThan(5_500);
  expect(state().copied).toBe(state().log);
  await commit(1);
  expect(state().log).toBeLessThan(1_000);
  expect(lines).toEqual([]);
});

test('what another program still reads stays in the log, and is copied later', async () => {
  using folder = tempFolder();
  using file = open(folder);
  const { path, state, pieces, commit, pass, rows } = file;
  await commit(10);
  const before = rows();
  const reader = new Database(path, { readonly: true });
  reader.exec('BEGIN');
  const seen = () => reader.prepare('SELECT count(*) FROM filler').pluck().get();
  expect(seen()).toBe(before);
  const readAt = state().log;
  await commit(30);
  await pass(10_000);
  expect(state().copied).toBe(readAt);
  expect(seen()).toBe(before);
  reader.close();
  const { length } = pieces;
  while (state().copied !== state().log && state().log < 60_000) await commit(1);
  expect(pieces.slice(length).length).toBeGreaterThanOrEqual(4);
  await commit(1);
  expect(state().log).toBeLessThan(1_000);
  expect(rows()).toBeGreaterThan(40 * rowsAtOnce);
});

test('a file that was moved away is logged for each piece that it would have been, not with every write', async () => {
  using folder = tempFolder();
  using file = open(folder);
  const { path, state, commit, lines, rows } = file;
  renameSync(path, `${path}.moved`);
  await commit(30);
  expect(state()).toEqual({ log: expect.any(Number), copied: 0 });
  expect(rows()).toBe(30 * rowsAtOnce);
  expect(lines.map(({ msg }) => msg)).toEqual(
    Array.from({ length: 3 }, () => expect.stringContaining('cannot copy the log of the database into it')),
  );
});
