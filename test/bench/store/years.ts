import { statSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import Database from 'better-sqlite3';
import { createReader } from '#history/create-reader.ts';
import type { PackedResult } from '#history/pack.ts';
import type { HistoryReader, KnownTarget } from '#history/reader.ts';
import { dayMs, hourMs } from '#history/span.ts';
import { stableFraction } from '#kernel/hash.ts';
import { openDatabase } from '#store/open.ts';
import { backUp } from '#store/reading.ts';
import { openHistoryParts } from '#store/sealing/parts.ts';
import type { Store } from '#store/sqlite.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { closing, down, openAt, opening, quiet, round, start, tempFolder, up, vote } from '../../support/store.ts';
import { FastClock } from './fast-clock.ts';
import { bytesWritten, cpuStopwatch, stopwatch } from './meter.ts';

// A file as it is after years: hours of the past and days of single results, made by the store's own code, then what the pages ask
// of it. `npm run bench store -- --targets 1000 --raw-days 14 --hour-days 730` is the whole; without options it is a small one.
const { values } = parseArgs({
  args: process.argv.slice(3),
  options: {
    targets: { type: 'string', default: '10' },
    nodes: { type: 'string', default: '2' },
    'every-seconds': { type: 'string', default: '30' },
    'raw-days': { type: 'string', default: '1' },
    'hour-days': { type: 'string', default: '30' },
  },
});
const size = {
  targets: Number(values.targets),
  nodes: Number(values.nodes),
  everyMs: Number(values['every-seconds']) * 1_000,
  rawDays: Number(values['raw-days']),
  hourDays: Number(values['hour-days']),
};
const names = Array.from({ length: size.targets }, (_, index) => `target-${index}`);
const nodes = Array.from({ length: size.nodes }, (_, index) => `de${index + 1}`);
const retention = {
  rawMs: size.rawDays * dayMs,
  hoursMs: 730 * dayMs,
  daysMs: null,
  verdictsMs: null,
  incidentsMs: null,
};
const rawFrom = start + size.hourDays * dayMs;
const end = rawFrom + size.rawDays * dayMs;
const random = seededRandom(1);
const takes = () => Math.round(5_000 * 2 ** (random.next() * 2) * (random.next() < 0.01 ? 8 : 1));

/** Makes the file and prints what it cost and what it answers how fast. */
export async function measureYears(): Promise<void> {
  using folder = tempFolder();
  const path = join(folder.path, 'watchpost.db');
  const every = `${size.everyMs / 1_000} s`;
  console.log(
    `\n${size.targets} targets at ${size.nodes} nodes every ${every}: ${size.hourDays} days of hours, then ${size.rawDays} of results`,
  );
  const made = stopwatch();
  makeHours(path);
  console.log(`hours made             ${(Number(made()) / 1_000).toFixed(0)} s, ${megabytes(statSync(path).size)}`);
  await makeResults(path);
  const clock = new FastClock(end + 60_000);
  const opened = stopwatch();
  await using store = openAt(path, clock, { retention });
  console.log(`start                  ${opened()} ms to open ${megabytes(store.bytes())}`);
  printTables(path);
  const copied = stopwatch();
  const bytes = backUp(path, join(folder.path, 'copy.db'));
  console.log(`backup                 ${copied()} ms for ${megabytes(bytes)}\n`);
  await measureQueries(store, clock);
}

// Hours as sealing leaves them, day by day, with what sealing and forgetting do behind them.
function makeHours(path: string): void {
  using file = openDatabase({ path, pid: process.pid, log: quiet });
  const parts = openHistoryParts(file.raw, retention);
  const insert = (table: string) => file.raw.prepare(`INSERT INTO ${table} (name) VALUES (?)`);
  const ids = (table: string, all: readonly string[]) =>
    all.map((name) => Number(insert(table).run(name).lastInsertRowid));
  const targetIds = ids('targets', names);
  const nodeIds = ids('nodes', nodes);
  const shapes = Array.from({ length: 200 }, hourOfResults);
  const putDay = file.raw.transaction((targetId: number, day: number) => {
    for (const nodeId of nodeIds) {
      for (let hour = day; hour < day + dayMs; hour += hourMs) {
        const shape = shapes[Math.floor(random.next() * shapes.length)] ?? [];
        parts.rows.putHour(
          { targetId, nodeId },
          hour,
          shape.map((one) => ({ ...one, dueAt: hour + one.dueAt })),
        );
      }
    }
  });
  for (let day = start; day < rawFrom; day += dayMs) {
    for (const [index, targetId] of targetIds.entries()) {
      putDay.immediate(targetId, day);
      noteDay(parts, targetId, day, index);
    }
    parts.spells.flush();
    while (parts.upkeep.step(day + dayMs + 600_000));
  }
}

// Each target is down for some minutes every ten days.
function noteDay(parts: ReturnType<typeof openHistoryParts>, targetId: number, day: number, index: number): void {
  const verdict = { inMaintenance: false, holdsMs: 2 * size.everyMs };
  const isBad = (day / dayMs + index) % 10 === 0;
  for (let at = day; at < day + dayMs; at += size.everyMs) {
    const isDown = isBad && at >= day + 3 * hourMs && at < day + 3 * hourMs + 300_000;
    parts.spells.note(targetId, at, { ...verdict, status: isDown ? 'down' : 'up' });
  }
  parts.spells.transactionEnded('committed');
}

function hourOfResults(): readonly PackedResult[] {
  const phase = Math.floor(random.next() * size.everyMs);
  return Array.from({ length: hourMs / size.everyMs }, (_, index) => ({
    dueAt: phase + index * size.everyMs,
    status: 'up',
    durationUs: takes(),
    failure: null,
    lateAt: null,
  }));
}

async function makeResults(path: string): Promise<void> {
  const clock = new FastClock(rawFrom);
  const store = openAt(path, clock, { retention });
  const holds = createHolds();
  const written = bytesWritten();
  const made = stopwatch();
  let sealingMs = 0;
  for (let hour = rawFrom; hour < end; hour += hourMs) {
    const stored = playHour(store, clock, hour, holds);
    clock.advanceTo(Math.max(clock.now(), hour + hourMs + 301_000));
    await stored;
    for (;;) {
      const { result: goesOn, cpuMs } = holds.measure(() => store.upkeep());
      sealingMs += cpuMs;
      if (!goesOn) break;
    }
  }
  const results = (size.rawDays * dayMs * size.targets * size.nodes) / size.everyMs;
  const seconds = Number(made()) / 1_000;
  await store.close();
  console.log(`results made           ${results.toLocaleString('en')} in ${seconds.toFixed(0)} s, all sealed`);
  console.log(`written                ${(written() / results).toFixed(0)} bytes a result, log and sealing included`);
  console.log(`sealing                ${((sealingMs * 1_000) / results).toFixed(2)} µs a result`);
  holds.print();
}

async function playHour(store: Store, clock: FastClock, hour: number, holds: Holds): Promise<void> {
  const dues = names
    .flatMap((target) => {
      const phase = Math.floor(stableFraction(target) * size.everyMs);
      return Array.from({ length: hourMs / size.everyMs }, (_, index) => ({
        target,
        dueAt: hour + phase + index * size.everyMs,
      }));
    })
    .toSorted((a, b) => a.dueAt - b.dueAt);
  let last: Promise<unknown> = Promise.resolve();
  const isBad = (name: string, dueAt: number) => dueAt % dayMs < 300_000 && stableFraction(`${name}${dueAt}`) < 0.5;
  for (const { target, dueAt } of dues) {
    holds.measure(() => clock.advanceTo(Math.max(clock.now(), dueAt)));
    const isDown = isBad(target, dueAt);
    const votes = nodes.map((node) => vote(node, isDown ? down() : up(takes() / 1e6)));
    const verdict = { status: isDown ? 'down' : 'up', inMaintenance: false, holdsMs: 2 * size.everyMs } as const;
    last = store.record(round(target, dueAt, { votes, verdict }));
  }
  const [first = ''] = names;
  if (hour % dayMs === 0)
    last = Promise.all([last, store.record(opening(first, hour)), store.record(closing(first, hour, hour + 1))]);
  return last.then(() => undefined);
}

type Holds = ReturnType<typeof createHolds>;

// For how long the main loop was held at a time, by the clock and by the CPU.
function createHolds() {
  const holds: { readonly ms: number; readonly cpuMs: number }[] = [];
  return {
    measure<Result>(action: () => Result): { readonly result: Result; readonly cpuMs: number } {
      const [took, cpu] = [stopwatch(), cpuStopwatch()];
      const result = action();
      const cpuMs = cpu();
      holds.push({ ms: Number(took()), cpuMs });
      return { result, cpuMs };
    },
    print() {
      const of = (key: 'ms' | 'cpuMs') => holds.map((hold) => hold[key]).toSorted((a, b) => a - b);
      const line = (key: 'ms' | 'cpuMs') => `p99 ${at(of(key), 0.99)} ms, longest ${at(of(key), 1)} ms`;
      console.log(`holds of the main loop ${line('cpuMs')} of CPU (aim: 20); by the clock ${line('ms')}`);
    },
  };
}

function printTables(path: string): void {
  const database = new Database(path, { readonly: true });
  const table = (name: string) => {
    const count = database.prepare<[], { n: number }>(`SELECT count(*) AS n FROM ${name}`).get()?.n ?? 0;
    const bytes = database
      .prepare<[string], { bytes: number | null }>('SELECT sum(pgsize) AS bytes FROM dbstat WHERE name = ?')
      .get(name)?.bytes;
    const each = (bytes ?? 0) / Math.max(1, count);
    console.log(
      `${name.padEnd(22)} ${megabytes(bytes ?? 0)} in ${count.toLocaleString('en')} rows, ${each.toFixed(0)} bytes each`,
    );
    return each;
  };
  const [pack, hour, day] = ['packs', 'sealed_hours', 'sealed_days', 'spells'].map(table);
  const kept = ((pack ?? 0) + (hour ?? 0) + (day ?? 0) / 24) / (hourMs / size.everyMs);
  console.log(`kept                   ${kept.toFixed(2)} bytes a result, with its hour and its day`);
  database.close();
}

async function measureQueries(store: Store, clock: FastClock): Promise<void> {
  const known = names.map((name): KnownTarget => ({
    name,
    check: 'tcp',
    host: `${name}.example.com:443`,
    labels: {},
    objective: { ratio: 0.999, overMs: 30 * dayMs },
  }));
  const reader = createReader({ source: store.history, targets: () => known, clock });
  const asks: readonly (readonly [string, (reader: HistoryReader, target: string) => Promise<unknown>])[] = [
    ['now, one target', async (from, target) => from.now({ target })],
    ['last 20 rounds', async (from, target) => from.rounds(target, { limit: 20 })],
    ...([1, 7, 30, 75, 90, 365] as const).map(
      (days) =>
        [
          `series of ${days} d`,
          async (from: HistoryReader, target: string) =>
            from.series({ of: { target }, from: end - days * dayMs, to: end }),
        ] as const,
    ),
    ['figures of 30 d', async (from, target) => from.byTarget({ of: { target }, from: end - 30 * dayMs, to: end })],
    ['figures of a year', async (from, target) => from.byTarget({ of: { target }, from: end - 365 * dayMs, to: end })],
    [
      'an hour long ago',
      async (from, target) => from.figures({ of: { target }, from: start + 100 * hourMs, to: start + 101 * hourMs }),
    ],
    ['nodes over 30 d', async (from, target) => from.byNode({ of: { target }, from: end - 30 * dayMs, to: end })],
    ['50 incidents', async (from) => from.incidents({})],
  ];
  console.log('query, of one target     p50 ms   p99 ms of CPU (aim: 20), p99 ms by the clock');
  for (const [name, ask] of asks) {
    const times: number[] = [];
    const cpuTimes: number[] = [];
    for (let count = 0; count < 200; count += 1) {
      const target = names[Math.floor(random.next() * names.length)] ?? '';
      const [took, cpu] = [stopwatch(), cpuStopwatch()];
      await ask(reader, target);
      cpuTimes.push(cpu());
      times.push(Number(took()));
    }
    const [sorted, cpuSorted] = [times, cpuTimes].map((list) => list.toSorted((a, b) => a - b));
    const figures = [at(cpuSorted, 0.5), at(cpuSorted, 0.99), at(sorted, 0.99)];
    console.log(`${name.padEnd(22)} ${figures.map((figure) => figure.padStart(8)).join(' ')}`);
  }
  const report = stopwatch();
  await reader.byTarget({ from: end - 30 * dayMs, to: end });
  console.log(`report of all, 30 d    ${report()} ms`);
  const budgets = stopwatch();
  await reader.budgets();
  console.log(`budgets of all         ${budgets()} ms`);
}

const at = (sorted: readonly number[] = [], share = 1) =>
  (sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN).toFixed(1);

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
