import { statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { Outcome } from '#checks/index.ts';
import { stableFraction } from '#kernel/hash.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { healthy, openAt, opening, start, tempFolder, up, vote } from '../../support/store.ts';
import { FastClock } from './fast-clock.ts';
import { measureHours } from './hours.ts';
import { readIo, stopwatch } from './meter.ts';
import { isWanted } from './size.ts';
import { measureYears } from './years.ts';

// An hour of 1,000 targets every 30 s on one node, all up, in fast time: what a result costs in the file, on the disk and in CPU,
// beside the naive way (a row with id, ISO time and JSON, committed at once) in the same run. Ours includes the last checkpoint.
const targets = 1_000;
const intervalMs = 30_000;
const hours = 1;

interface Arrival {
  readonly target: string;
  readonly dueAt: number;
  readonly arrivedAt: number;
  readonly outcome: Outcome;
}

interface Cost {
  readonly kept: number;
  /** Bytes that went through write(2): log and database file together. */
  readonly written: number;
  /** Bytes of pages that the kernel was given to write to the disk; 0 on a tmpfs. */
  readonly dirtied: number;
  readonly cpuUs: number;
}

const arrivals = isWanted('hour') ? simulate() : [];
if (isWanted('hour')) await measureHour();
if (isWanted('hours')) await measureHours();
if (isWanted('years')) await measureYears();

async function measureHour(): Promise<void> {
  console.log(
    `${targets} targets every ${intervalMs / 1_000} s on one node for ${hours} h: ${arrivals.length} results, all up\n`,
  );
  const ours = await measureStore();
  const naive = measureNaively();
  console.log('per result             ours       naive      ratio   aim');
  print('bytes kept', ours.kept, naive.kept, '24');
  print('bytes written', ours.written, naive.written, '500');
  print('bytes dirtied on disk', ours.dirtied, naive.dirtied, '500');
  print('CPU, microseconds', ours.cpuUs, naive.cpuUs, '');
}

function simulate(): readonly Arrival[] {
  const random = seededRandom(1);
  const all: Arrival[] = [];
  for (let index = 0; index < targets; index += 1) {
    const target = `target-${index}`;
    const phase = Math.floor(stableFraction(target) * intervalMs);
    for (let dueAt = start + phase; dueAt < start + hours * 3_600_000; dueAt += intervalMs) {
      const seconds = 0.0002 + random.next() ** 4 * 0.4;
      all.push({ target, dueAt, arrivedAt: dueAt + seconds * 1_000, outcome: up(seconds) });
    }
  }
  return all.sort((a, b) => a.arrivedAt - b.arrivedAt);
}

async function measureStore(): Promise<Cost> {
  using folder = tempFolder();
  const path = join(folder.path, 'watchpost.db');
  const clock = new FastClock();
  const store = openAt(path, clock);
  const cost = meter();
  let last: Promise<unknown> = Promise.resolve();
  for (const { target, dueAt, arrivedAt, outcome } of arrivals) {
    clock.advanceTo(arrivedAt);
    last = store.record(healthy(target, dueAt, { votes: [vote('de1', outcome)] }));
  }
  await store.close();
  await last;
  const spent = cost(statSync(path).size);
  await measureRest(path, clock);
  return spent;
}

async function measureRest(path: string, clock: FastClock): Promise<void> {
  const opened = stopwatch();
  await using store = openAt(path, clock);
  console.log(`open and quick_check   ${opened()} ms for ${(store.bytes() / 1e6).toFixed(1)} MB`);
  const read = stopwatch();
  const rows = store.recentResults('target-7', 0).length;
  console.log(`recentResults          ${read()} ms for ${rows} results of one target in ${hours} h`);
  const synced = stopwatch();
  const count = 20;
  for (let index = 0; index < count; index += 1) {
    clock.advanceTo(clock.now() + 100);
    await store.record(opening('shop', start + index));
  }
  console.log(`incident and delivery  ${(Number(synced()) / count).toFixed(1)} ms each, synced to the disk`);
  clock.advanceTo(start + hours * 3_600_000 + 600_000);
  const sealed = stopwatch();
  const pieces: number[] = [];
  const before = meter();
  for (let piece = stopwatch(); store.upkeep(); piece = stopwatch()) pieces.push(Number(piece()));
  const { written } = before(0);
  console.log(
    `seal the hour          ${sealed()} ms in pieces of at most ${Math.max(...pieces).toFixed(1)} ms, ` +
      `${written.toFixed(0)} bytes written per result\n`,
  );
}

function measureNaively(): Cost {
  using folder = tempFolder();
  const path = join(folder.path, 'naive.db');
  const database = new Database(path);
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = NORMAL');
  database.exec('CREATE TABLE results (id INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, result TEXT NOT NULL)');
  const insert = database.prepare('INSERT INTO results (at, result) VALUES (?, ?)');
  const cost = meter();
  for (const { target, dueAt, outcome } of arrivals) {
    insert.run(new Date(dueAt).toISOString(), JSON.stringify({ target, node: 'de1', ...outcome }));
  }
  database.close();
  return cost(statSync(path).size);
}

function meter(): (kept: number) => Cost {
  const cpu = process.cpuUsage();
  const io = readIo();
  return (kept) => {
    const spent = process.cpuUsage(cpu);
    const done = readIo();
    const count = arrivals.length;
    return {
      kept: kept / count,
      written: (done.written - io.written) / count,
      dirtied: (done.dirtied - io.dirtied) / count,
      cpuUs: (spent.user + spent.system) / count,
    };
  };
}

function print(name: string, ours: number, naive: number, aim: string): void {
  const figure = (value: number) => value.toFixed(value < 100 ? 1 : 0).padStart(9);
  console.log(
    `${name.padEnd(18)} ${figure(ours)} ${figure(naive)}   ${(naive / ours).toFixed(1).padStart(6)}x   ${aim}`,
  );
}
