import { createReader } from '#history/create-reader.ts';
import type { HistoryReader, HistoryTarget } from '#history/reader.ts';
import { dayMs, hourMs } from '#kernel/units.ts';
import type { Store } from '#store/sqlite.ts';
import { chartOf, figuresTable } from '#web/pages/history-values.ts';
import type { FastClock } from './fast-clock.ts';
import { cpuStopwatch, stopwatch } from './meter.ts';
import { end, names, random, size } from './size.ts';

type Ask = (reader: HistoryReader, target: string) => Promise<unknown>;

const series = (days: number): readonly [string, Ask] => [
  `series of ${days} d`,
  async (reader, target) => reader.series({ of: { target }, from: end - days * dayMs, to: end, points: 120 }),
];
const chart = (days: number): readonly [string, Ask] => [
  `whole chart of ${days} d`,
  async (reader, name) =>
    chartOf(
      { reader, changesOf: () => [] },
      { name, everyMs: size.everyMs },
      { name: null, from: end - days * dayMs, to: end },
    ),
];

/** What pages and commands ask, one after the other; a whole chart or table is several. */
const asks: readonly (readonly [string, Ask])[] = [
  ['now, one target', async (reader, target) => reader.now({ target })],
  ['last 20 rounds', async (reader, target) => reader.rounds(target, { limit: 20 })],
  ...[1, 7, 30, 75, 90, 365, 730].map(series),
  ['figures of 30 d', async (reader, target) => reader.byTarget({ of: { target }, from: end - 30 * dayMs, to: end })],
  [
    'figures of a year',
    async (reader, target) => reader.byTarget({ of: { target }, from: end - 365 * dayMs, to: end }),
  ],
  [
    'an hour long ago',
    async (reader, target) =>
      reader.figures({
        of: { target },
        from: end - (size.hourDays / 2) * dayMs,
        to: end - (size.hourDays / 2) * dayMs + hourMs,
      }),
  ],
  ['nodes over 30 d', async (reader, target) => reader.byNode({ of: { target }, from: end - 30 * dayMs, to: end })],
  ['incidents of a target', async (reader, target) => reader.incidents({ target, limit: 20 })],
  ['200 incidents', async (reader) => reader.incidents({ limit: 200 })],
  [
    '90 days of overview',
    async (reader, target) =>
      reader.series({
        of: { target },
        from: Math.floor(end / dayMs) * dayMs - 89 * dayMs,
        to: end,
        stepMs: dayMs,
        isTimeOnly: true,
      }),
  ],
  [
    'table of a page',
    async (reader, target) => figuresTable(reader, target, { name: '6h', from: end - 6 * hourMs, to: end }, end),
  ],
  ...[1, 7, 30, 365, 730].map(chart),
];

const count = 200;

export async function measureQueries(store: Store, clock: FastClock): Promise<void> {
  const known = names.map((name): HistoryTarget => ({
    name,
    check: 'tcp',
    host: `${name}.example.com:443`,
    labels: {},
    objective: { ratio: 0.999, overMs: 30 * dayMs },
  }));
  const reader = createReader({ source: store.history, targets: () => known, clock });
  console.log('query, of one target     p50 ms   p99 ms of CPU (aim: 20), p50, p99 ms by the clock');
  for (const [name, ask] of asks) {
    const times: number[] = [];
    const cpuTimes: number[] = [];
    for (let asked = 0; asked < count; asked += 1) {
      const target = names[Math.floor(random.next() * names.length)] ?? '';
      const [took, cpu] = [stopwatch(), cpuStopwatch()];
      await ask(reader, target);
      cpuTimes.push(cpu());
      times.push(Number(took()));
    }
    const figures = [at(cpuTimes, 0.5), at(cpuTimes, 0.99), at(times, 0.5), at(times, 0.99)];
    console.log(`${name.padEnd(22)} ${figures.map((figure) => figure.padStart(8)).join(' ')}`);
  }
  for (const [title, page] of [
    ['now, all of them', undefined],
    ['now, a page of 100', { limit: 101 }],
  ] as const) {
    const [took, cpu] = [stopwatch(), cpuStopwatch()];
    await reader.now({ all: true }, page);
    console.log(`${title.padEnd(22)} ${cpu().toFixed(0)} ms of CPU, ${took()} by the clock`);
  }
  const report = stopwatch();
  await reader.byTarget({ from: end - 30 * dayMs, to: end });
  console.log(`report of all, 30 d    ${report()} ms`);
  const budgets = stopwatch();
  await reader.budgets();
  console.log(`budgets of all         ${budgets()} ms`);
}

const at = (values: readonly number[], share: number) =>
  (values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(share * values.length) - 1)] ?? Number.NaN).toFixed(1);
