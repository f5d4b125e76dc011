import { statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { hourMs } from '#kernel/units.ts';
import { backUp } from '#store/backup.ts';
import { openAt, tempFolder } from '../../support/store.ts';
import { FastClock } from './fast-clock.ts';
import { makePast } from './make-past.ts';
import { stopwatch } from './meter.ts';
import { playDays } from './play.ts';
import { measureQueries } from './queries.ts';
import { end, retention, size } from './size.ts';

// A file as it is after years, then a part of a day of results through the store, then what the pages ask of it.
// `npm run bench store -- --targets 1000 --hour-days 730 --raw-days 14` is the whole; without options it is a small one.

/** Makes the file and prints what it cost and what it answers how fast. */
export async function measureYears(): Promise<void> {
  using folder = tempFolder();
  const path = join(folder.path, 'watchpost.db');
  const { targets, nodes, everyMs, hourDays, rawDays, liveDays } = size;
  console.log(
    `\n${targets} targets at ${nodes} nodes every ${everyMs / 1_000} s: ${hourDays} days of hours, of ${rawDays} with results, ` +
      `then ${liveDays} through the store`,
  );
  const made = stopwatch();
  makePast(path);
  console.log(`past made              ${(Number(made()) / 1_000).toFixed(0)} s, ${megabytes(statSync(path).size)}`);
  await playDays(path);
  const clock = new FastClock(end + 60_000);
  const opened = stopwatch();
  await using store = openAt(path, clock, { retention });
  console.log(`start                  ${opened()} ms to open ${megabytes(store.bytes())}`);
  await measureQueries(store, clock);
  const copied = stopwatch();
  const bytes = await backUp(path, join(folder.path, 'copy.db'), { signal: new AbortController().signal });
  console.log(`backup                 ${copied()} ms for ${megabytes(bytes)}\n`);
  printTables(path);
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
  const [pack, hour, day] = ['packs', 'sealed_hours', 'sealed_days', 'verdict_periods', 'incidents', 'deliveries'].map(
    table,
  );
  const kept = ((pack ?? 0) + (hour ?? 0) + (day ?? 0) / 24) / (hourMs / size.everyMs);
  console.log(`kept                   ${kept.toFixed(2)} bytes a result, with its hour and its day`);
  database.close();
}

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
