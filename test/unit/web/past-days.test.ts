import { expect, test } from 'vitest';
import type { TargetChange } from '#history/changes.ts';
import type { HistoryFigures, HistoryReader } from '#history/reader.ts';
import { noTime } from '#history/verdict-periods.ts';
import { latencyChart, type ChartPoint } from '#web/pages/chart.ts';
import { chartOf, createPastKeeper } from '#web/pages/history-values.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const day = 86_400_000;
const hour = 3_600_000;

const figures = (time: Partial<typeof noTime> | null): HistoryFigures => ({
  from: 0,
  to: day,
  uptime: null,
  verdictsFrom: null,
  time: time === null ? null : { ...noTime, ...time },
  answers: { up: 1, down: 0, unknown: 0, late: 0 },
  latency: null,
});

test.each([
  { time: { up: day - 1, down: 1 }, is: 'down' },
  { time: { up: day - 2, partial: 1, unknown: 1 }, is: 'partial' },
  { time: { up: 1, unknown: day - 1 }, is: 'up' },
  { time: { maintenance: 1, unknown: day - 1 }, is: 'maintenance' },
  { time: { unknown: day }, is: 'unknown' },
  { time: {}, is: null },
  { time: null, is: null },
])('a day is drawn as the worst that was seen: $time', async ({ time, is }) => {
  const reader: Pick<HistoryReader, 'series' | 'figures' | 'budgets'> = {
    series: async ({ from, to }) => ({ from, to, stepMs: day, parts: [figures(time)] }),
    figures: async () => figures(time),
    budgets: async () => [],
  };
  const failures: unknown[] = [];
  const keeper = createPastKeeper(reader as HistoryReader, new FakeClock(), (error) => void failures.push(error));
  await keeper.want(['shop'], 1_000);
  expect(failures).toEqual([]);
  expect(keeper.of('shop')?.days).toEqual([is]);
});

test('marks of a chart lie within its span', async () => {
  const to = Date.parse('2026-01-01T12:00:00Z');
  const from = to - hour;
  const reader: Pick<HistoryReader, 'series' | 'byNode' | 'incidents'> = {
    series: async ({ stepMs }) => ({ from, to, stepMs: stepMs ?? 60_000, parts: [] }),
    byNode: async () => [],
    incidents: async () => ({ incidents: [], next: null }),
  };
  const reload = (at: number): TargetChange => ({ target: 'shop', kind: 'reload', node: null, at, value: '' });
  const changesOf = () => [to, to - 1, from, from - 1].map(reload);
  const span = { name: null, from, to } as const;
  const { events } = await chartOf(
    { reader: reader as HistoryReader, changesOf },
    { name: 'shop', everyMs: 60_000 },
    span,
  );
  expect(events.map((event) => event.from)).toEqual([to - 1, from]);
});

test('a gap stays a gap in the line and in the band of a chart', () => {
  const point = (at: number, seconds: number | null): ChartPoint => ({ at, p50: seconds, p95: seconds, min: seconds });
  const points = [point(1, 0.1), point(2, 0.1), point(3, null), point(4, 0.1), point(5, 0.1)];
  const drawn = String(latencyChart({ from: 0, to: 6, stepMs: 1, lines: [{ name: 'de1', points }], events: [] }));
  for (const part of ['band', 'line']) {
    const [, path = ''] = new RegExp(`<path class="${part}" d="([^"]*)"`).exec(drawn) ?? [];
    expect([part, path.match(/M/g)?.length]).toEqual([part, 2]);
  }
});
