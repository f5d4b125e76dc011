import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { withExclusions } from '#history/exclusions.ts';
import {
  follow,
  noTime,
  verdictSpansIn,
  type RoundVerdict,
  type VerdictPeriod,
  type TargetStatus,
  timeIn,
  timesIn,
  uptimeOf,
  verdictsSince,
} from '#history/verdict-periods.ts';

const minute = 60_000;

function periodsOf(
  rounds: readonly (readonly [at: number, status: TargetStatus, inMaintenance?: boolean])[],
): VerdictPeriod[] {
  const periods: VerdictPeriod[] = [];
  for (const [at, status, inMaintenance = false] of rounds) {
    const verdict: RoundVerdict = { status, inMaintenance, holdsMs: 2 * minute };
    const next = follow(periods.at(-1) ?? null, at * minute, verdict);
    if (next === null) continue;
    if (next.from === periods.at(-1)?.from) periods.pop();
    periods.push(next);
  }
  return periods;
}

test('rounds that end alike make one period, and time is counted by what was seen last', () => {
  const periods = periodsOf([[0, 'up'], [1, 'up'], [2, 'down'], [3, 'down'], [4, 'up'], [5, 'up']]); // prettier-ignore
  expect(periods.map(({ from, last, status }) => [from / minute, last / minute, status])).toEqual([
    [0, 1, 'up'],
    [2, 3, 'down'],
    [4, 5, 'up'],
  ]);
  const time = timeIn({ from: 0, to: 6 * minute }, periods, 6 * minute);
  expect(time).toEqual({
    up: 4 * minute,
    down: 2 * minute,
    partial: 0,
    unknown: 0,
    maintenance: 0,
    excluded: 0,
    unwatched: 0,
  });
  expect(uptimeOf(time)).toBeCloseTo(4 / 6);
});

test('time without rounds is not watched once the last one holds no longer', () => {
  const periods = periodsOf([[0, 'up'], [10, 'up']]); // prettier-ignore
  const time = timeIn({ from: 0, to: 11 * minute }, periods, 11 * minute);
  expect(time).toMatchObject({ up: 3 * minute, unwatched: 8 * minute });
});

test('a span has its periods to the millisecond, and says from when on there are verdicts', () => {
  const periods = periodsOf([[0, 'unknown'], [1, 'up'], [2, 'down'], [3, 'up', true], [10, 'up']]); // prettier-ignore
  const span = { from: minute / 2, to: 10.5 * minute };
  const spans = verdictSpansIn(span, periods, 20 * minute);
  expect(
    spans.map(({ from, to, status, inMaintenance }) => [from / minute, to / minute, status, inMaintenance]),
  ).toEqual([
    [0.5, 1, 'unknown', false],
    [1, 2, 'up', false],
    [2, 3, 'down', false],
    [3, 5, 'up', true],
    [10, 10.5, 'up', false],
  ]);
  expect(verdictsSince(span, periods)).toBe(minute);
  expect(verdictsSince({ from: 2.5 * minute, to: 3 * minute }, periods)).toBe(2.5 * minute);
  expect(verdictsSince({ from: 6 * minute, to: 9 * minute }, periods)).toBe(null);
  expect(verdictsSince({ from: 0, to: minute }, periods)).toBe(null);
});

test('maintenance is apart whatever is seen, and unknown counts for neither side', () => {
  const periods = periodsOf([[0, 'up'], [1, 'down', true], [2, 'down', true], [3, 'unknown'], [4, 'up']]); // prettier-ignore
  const time = timeIn({ from: 0, to: 5 * minute }, periods, 5 * minute);
  expect(time).toMatchObject({ up: 2 * minute, down: 0, maintenance: 2 * minute, unknown: minute });
  expect(uptimeOf(time)).toBe(1);
});

test('nothing is known of what was never watched', () => {
  expect(uptimeOf(timeIn({ from: 0, to: minute }, [], minute))).toBeNull();
});

test('the time of a span is that of its parts, wherever it is cut, and is all of it', () => {
  const status = fc.constantFrom<TargetStatus>('up', 'partial', 'down', 'unknown');
  const round = fc.tuple(fc.nat(600), status, fc.boolean());
  fc.assert(
    fc.property(fc.array(round, { maxLength: 60 }), fc.nat(600), fc.nat(600), fc.nat(600), (rounds, a, b, c) => {
      const periods = periodsOf(rounds.toSorted((one, other) => one[0] - other[0]));
      const [from = 0, middle = 0, to = 0] = [a, b, c].toSorted((one, other) => one - other).map((at) => at * minute);
      const now = 700 * minute;
      const [whole, first, second] = [
        { from, to },
        { from, to: middle },
        { from: middle, to },
      ].map((span) => timeIn(span, periods, now));
      for (const key of Object.keys(whole ?? {}) as (keyof NonNullable<typeof whole>)[]) {
        expect(whole?.[key]).toBe((first?.[key] ?? 0) + (second?.[key] ?? 0));
      }
      expect(Object.values(whole ?? {}).reduce((sum, one) => sum + one, 0)).toBe(to - from);
    }),
  );
});

test('parts that follow each other are those of each part by itself, with excluded time and a clock that has not come so far too', () => {
  const status = fc.constantFrom<TargetStatus>('up', 'partial', 'down', 'unknown');
  const round = fc.tuple(fc.nat(600), status, fc.boolean());
  const excluded = fc
    .tuple(fc.nat(600), fc.nat(60))
    .map(([at, long]) => ({ from: at * minute, to: (at + long) * minute }));
  fc.assert(
    fc.property(
      fc.array(round, { maxLength: 60 }),
      fc.array(excluded, { maxLength: 3 }),
      fc.array(fc.nat(700), { minLength: 2, maxLength: 12 }),
      fc.nat(700),
      (rounds, spans, cuts, now) => {
        const past = rounds.filter(([at]) => at <= now).toSorted((one, other) => one[0] - other[0]);
        const periods = withExclusions(periodsOf(past), spans);
        const edges = cuts.map((at) => (at + 0.5) * minute).toSorted((one, other) => one - other);
        const parts = edges.slice(1).map((to, index) => ({ from: edges[index] ?? 0, to }));
        const each = parts.map((part) => {
          const spent = verdictSpansIn(part, periods, now * minute);
          const seen = spent.find((one) => !one.isExcluded && (one.status !== 'unknown' || one.inMaintenance));
          const time: Record<string, number> = { ...noTime };
          for (const { from, to, status, inMaintenance, isExcluded } of spent) {
            const kind = isExcluded ? 'excluded' : inMaintenance ? 'maintenance' : status;
            time[kind] = (time[kind] ?? 0) + to - from;
          }
          const watched = Object.values(time).reduce((sum, one) => sum + one, 0);
          time['unwatched'] = Math.max(0, Math.min(part.to, now * minute) - part.from - watched);
          return { time, since: seen?.from ?? null };
        });
        expect(timesIn(parts, periods, now * minute)).toEqual(each);
      },
    ),
  );
});
