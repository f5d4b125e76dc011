import { expect, test } from 'vitest';
import type { TargetChange } from '#history/changes.ts';
import type { HistoryFigures, HistoryReader, TargetBudget } from '#history/reader.ts';
import { noTime } from '#history/verdict-periods.ts';
import { eventList, latencyChart, type ChartPoint } from '#web/pages/chart.ts';
import { chartOf } from '#web/pages/history-values.ts';
import { createPastKeeper, pastNow } from '#web/pages/past.ts';
import { KeptVotes } from '#web/state/kept-votes.ts';
import type { LiveTarget } from '#web/state/board.ts';
import type { StateChange } from '#web/state/shown.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { watchedShop } from '../../support/watched.ts';

const day = 86_400_000;
const hour = 3_600_000;

const figures = (time: Partial<typeof noTime> | null): HistoryFigures => ({
  from: 0,
  to: day,
  uptime: null,
  since: null,
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
  { time: { excluded: 1, unknown: day - 1 }, is: 'excluded' },
  { time: { unknown: day }, is: 'unknown' },
  { time: {}, is: null },
  { time: null, is: null },
])('a day is drawn as the worst that was seen: $time', async ({ time, is }) => {
  const { keeper } = await lookedUp(figures(time), null);
  expect(keeper.of(liveShop([]))?.days).toEqual([is]);
});

async function lookedUp(seen: HistoryFigures, budget: TargetBudget | null) {
  const clock = new FakeClock('2026-01-01T12:00:00Z');
  const reader: Pick<HistoryReader, 'series' | 'figures' | 'budgets'> = {
    series: async ({ from, to }) => ({ from, to, stepMs: day, parts: [seen] }),
    figures: async () => seen,
    budgets: async () => (budget === null ? [] : [budget]),
  };
  const failures: unknown[] = [];
  const keeper = createPastKeeper(reader as HistoryReader, clock, (error) => void failures.push(error));
  await keeper.want(['shop'], 1_000);
  expect(failures).toEqual([]);
  return { keeper, clock };
}

function liveShop(changes: readonly StateChange[], dueAt = Date.parse('2026-01-01T12:00:00Z')): LiveTarget {
  const status = changes.at(-1)?.status ?? 'unknown';
  return {
    ...watchedShop,
    firstDueAt: undefined,
    status,
    since: null,
    dueAt,
    changes,
    votes: new KeptVotes(),
    recent: [],
    incidents: [],
    rounds: 0,
    spreads: new Map(),
    entry: {},
  };
}

const noon = Date.parse('2026-01-01T12:00:00Z');

test('what happened since the past was looked up counts: time down, the worst of today, the budget', async () => {
  const budget = { target: 'shop', ratio: 0.99, overMs: day, allowedMs: 600_000, spentMs: 0, left: 1, uptime: 1 };
  const { keeper, clock } = await lookedUp({ ...figures({ up: 180_000 }), since: noon - 180_000 }, budget);
  const live = liveShop([
    { status: 'up', from: noon - 180_000 },
    { status: 'down', from: noon + 60_000 },
  ]);
  expect(keeper.of(live)).toMatchObject({ days: ['up'], uptime: 1, budgetLeft: 1, knownMs: 180_000 });
  await clock.advance(120_000);
  expect(keeper.of(live)).toEqual({
    days: ['down'],
    downMs: [60_000],
    uptime: 240_000 / 300_000,
    since: noon - 180_000,
    knownMs: 300_000,
    budgetLeft: 0.9,
  });
  // What the last round saw holds for an hour; after that nothing is known.
  await clock.advance(10 * hour);
  expect(keeper.of(live)?.uptime).toBeCloseTo(240_000 / (240_000 + hour - 60_000));
});

test('a day with downtime stays so when the target is up again, before it is looked up too', async () => {
  const { keeper, clock } = await lookedUp(figures({ up: 180_000 }), null);
  const live = liveShop([
    { status: 'up', from: noon - 180_000 },
    { status: 'down', from: noon + 60_000 },
    { status: 'up', from: noon + 120_000 },
  ]);
  await clock.advance(180_000);
  expect(keeper.of(live)).toMatchObject({ days: ['down'], downMs: [60_000] });
});

test('what counts differently is looked up again at once, and stays as it was known until then', async () => {
  let down = 60_000;
  const clock = new FakeClock('2026-01-01T12:00:00Z');
  const seen = () => figures({ up: day - down, down });
  const reader: Pick<HistoryReader, 'series' | 'figures' | 'budgets'> = {
    series: async ({ from, to }) => ({ from, to, stepMs: day, parts: [seen()] }),
    figures: async () => seen(),
    budgets: async () => [],
  };
  const keeper = createPastKeeper(reader as HistoryReader, clock, () => {});
  await keeper.want(['shop'], 1_000);
  down = 0;
  await keeper.want(['shop'], 1_000);
  expect(keeper.of(liveShop([]))).toMatchObject({ days: ['down'], downMs: [60_000] });
  keeper.renew();
  expect(keeper.of(liveShop([]))).toMatchObject({ days: ['down'] });
  await keeper.want(['shop'], 1_000);
  expect(keeper.of(liveShop([]))).toMatchObject({ days: ['up'], downMs: [0], uptime: 1 });
});

test('where eight targets take longer than four milliseconds, the next eight wait for four times as long', async () => {
  const { wanted, clock, seen } = slowReader(16, 1);
  await clock.advance(0);
  await clock.advance(31);
  expect(seen()).toBe(8);
  await clock.advance(1);
  await wanted;
  expect(seen()).toBe(16);
});

test('of many targets the first two hundred come at once, and then each eight wait', async () => {
  const { wanted, clock, seen } = slowReader(400, 0.25);
  await clock.advance(0);
  expect(seen()).toBe(200);
  await clock.advance(9);
  expect(seen()).toBe(208);
  await clock.advance(250);
  await wanted;
  expect(seen()).toBe(400);
});

test('what is looked up as the program ends is left, and nothing is read afterwards', async () => {
  const { keeper, wanted, clock, seen } = slowReader(16, 1);
  await clock.advance(0);
  expect(seen()).toBe(8);
  await keeper[Symbol.asyncDispose]();
  await keeper.want(['t15'], 1_000);
  await clock.advance(60_000);
  await wanted;
  expect(seen()).toBe(8);
});

/** Wants the past of so many targets, each of which takes so long. */
function slowReader(targets: number, holdMs: number) {
  const clock = new FakeClock('2026-01-01T12:00:00Z');
  let count = 0;
  const reader: Pick<HistoryReader, 'series' | 'figures' | 'budgets'> = {
    series: async ({ from, to }) => {
      count += 1;
      clock.hold(holdMs);
      return { from, to, stepMs: day, parts: [figures({ up: day })] };
    },
    figures: async () => figures({ up: day }),
    budgets: async () => [],
  };
  const keeper = createPastKeeper(reader as HistoryReader, clock, () => {});
  const names = Array.from({ length: targets }, (_, index) => `t${index}`);
  return { keeper, wanted: keeper.want(names, 60_000), clock, seen: () => count };
}

test('a day that began since then is a day of its own', async () => {
  const { keeper, clock } = await lookedUp(figures({ up: day }), null);
  const live = liveShop(
    [
      { status: 'up', from: noon - hour },
      { status: 'down', from: noon + 11 * hour },
    ],
    noon + 12 * hour,
  );
  await clock.advance(12 * hour + 1_000);
  expect(keeper.of(live)).toMatchObject({ days: ['down'], downMs: [1_000] });
  const known = {
    at: noon,
    from: noon - 89 * day,
    days: ['up', null, 'up'],
    downMs: [0, 0, 0],
    time: null,
    since: null,
    renewals: 0,
    budget: null,
  } as const;
  expect(pastNow(known, live, noon + 12.5 * hour)).toMatchObject({
    days: [null, 'down', 'down'],
    downMs: [0, hour, hour / 2],
    uptime: null,
  });
});

test('of what is known for all of the 90 days only the days are told', async () => {
  const from = (Math.floor(noon / day) - 89) * day;
  const { keeper } = await lookedUp({ ...figures({ up: day }), since: from }, null);
  expect(keeper.of(liveShop([]))).toMatchObject({ since: from, knownMs: null });
});

test('marks of a chart lie within its span', async () => {
  const to = Date.parse('2026-01-01T12:00:00Z');
  const from = to - hour;
  const reader: Pick<HistoryReader, 'series' | 'byNode' | 'incidents' | 'periods' | 'exclusions'> = {
    exclusions: async () => [],
    series: async ({ stepMs }) => ({ from, to, stepMs: stepMs ?? 60_000, parts: [] }),
    byNode: async () => [],
    periods: async () => [],
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

test.each([
  { incidents: 100, says: '100 events in this span' },
  { incidents: 101, says: 'More than 100 events in this span, 100 of which are shown' },
])('the list below a chart says how many of $incidents incidents it has', async ({ incidents, says }) => {
  const to = Date.parse('2026-01-01T12:00:00Z');
  const from = to - 90 * day;
  const all = Array.from({ length: incidents }, (_, index) => {
    const startedAt = to - (index + 1) * hour;
    return { id: `${index}`, startedAt, word: 'DOWN', cause: 'refused' };
  });
  const reader: Record<string, unknown> = {
    exclusions: async () => [],
    series: async () => ({ from, to, stepMs: day, parts: [] }),
    byNode: async () => [],
    periods: async () => [],
    incidents: async ({ limit }: { limit: number }) => ({
      incidents: all.slice(0, limit),
      next: all.length > limit ? 'more' : null,
    }),
  };
  const chart = await chartOf(
    { reader: reader as unknown as HistoryReader, changesOf: () => [] },
    { name: 'shop', everyMs: 60_000 },
    { name: '90d', from, to },
  );
  expect(String(eventList(chart))).toContain(`<summary>${says}</summary>`);
});

test('a gap stays a gap in the line and in the band of a chart', () => {
  const point = (at: number, seconds: number | null): ChartPoint => ({
    at,
    p50: seconds,
    p95: seconds,
    min: seconds,
    failed: null,
    unknown: null,
  });
  const points = [point(1, 0.1), point(2, 0.1), point(3, null), point(4, 0.1), point(5, 0.1)];
  const drawn = String(latencyChart({ from: 0, to: 6, lines: [{ name: 'de1', points }], events: [] }));
  for (const part of ['band', 'line']) {
    const [, path = ''] = new RegExp(`<path class="${part}" d="([^"]*)"`).exec(drawn) ?? [];
    expect([part, path.match(/M/g)?.length]).toEqual([part, 2]);
  }
});
