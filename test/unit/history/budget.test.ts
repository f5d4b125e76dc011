import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  budgetOf,
  burningOf,
  burnsOf,
  describeBudget,
  describeObjective,
  longestMonthMs,
  periodAt,
} from '#history/budget.ts';
import { Downtime } from '#history/downtime.ts';
import { follow, noTime, type VerdictPeriod, type TargetStatus, timeIn } from '#history/verdict-periods.ts';
import { dayMs, hourMs } from '#kernel/units.ts';

const minute = 60_000;
const objective = { ratio: 0.999, overMs: 30 * dayMs };

test('a budget is what the period leaves for being down, and is spent by that alone', () => {
  const budget = budgetOf(objective, {
    ...noTime,
    up: 29 * dayMs,
    down: 10 * minute,
    unknown: hourMs,
    maintenance: hourMs,
  });
  expect(budget.allowedMs).toBe(43.2 * minute);
  expect(budget.spentMs).toBe(10 * minute);
  expect(budget.left).toBeCloseTo(1 - 10 / 43.2);
  expect(describeObjective(budget)).toBe('99.9% over 30d');
  expect(describeBudget(budget)).toBe('76% left of 99.9% over 30d: 10m of 43m 12s spent');
});

test('a budget that is overspent has less than nothing left', () => {
  const budget = budgetOf(objective, { ...noTime, down: hourMs });
  expect(budget.left).toBeCloseTo(-0.3889, 3);
  expect(describeBudget(budget)).toBe('-39% left of 99.9% over 30d: 1h of 43m 12s spent');
});

// In minutes; the budget of 99.9% is a thousandth of the month.
test.each([
  { zone: 'UTC', at: '2026-02-10T12:00Z', from: '2026-02-01T00:00Z', allowed: 28 * 1_440, text: '99.9% over month' },
  { zone: 'UTC', at: '2026-03-01T00:00Z', from: '2026-02-01T00:00Z', allowed: 28 * 1_440, text: '99.9% over month' },
  {
    zone: 'Europe/Berlin',
    at: '2026-02-28T23:01Z',
    from: '2026-02-28T23:00Z',
    allowed: 31 * 1_440 - 60,
    text: '99.9% over month in Europe/Berlin',
  },
  {
    zone: 'Europe/Berlin',
    at: '2026-10-31T23:00Z',
    from: '2026-09-30T22:00Z',
    allowed: 31 * 1_440 + 60,
    text: '99.9% over month in Europe/Berlin',
  },
])('the month of $zone that $at is in or ends has a budget of its own', ({ zone, at, from, allowed, text }) => {
  const ofMonth = { ratio: 0.999, overMs: longestMonthMs, monthIn: zone };
  const period = periodAt(ofMonth, Date.parse(at));
  expect(new Date(period.from)).toEqual(new Date(from));
  const budget = budgetOf(period.objective, { ...noTime, down: minute });
  expect(budget.allowedMs).toBeCloseTo((allowed * minute) / 1_000);
  expect(describeObjective(budget)).toBe(text);
});

test('the period of another objective ends at the moment', () => {
  expect(periodAt(objective, 40 * dayMs)).toEqual({ objective, from: 10 * dayMs });
});

test('a month burns as 30 days do', () => {
  expect(burnsOf({ ratio: 0.999, overMs: longestMonthMs, monthIn: 'UTC' })).toEqual(burnsOf(objective));
});

test('windows are the same share of any period', () => {
  const inMinutes = (days: number) =>
    burnsOf({ ratio: 0.99, overMs: days * dayMs }).map(({ factor, longMs, shortMs }) => [
      factor,
      longMs / minute,
      shortMs / minute,
    ]);
  expect(inMinutes(30)).toEqual([
    [14.4, 60, 5],
    [6, 360, 30],
    [1, 4_320, 360],
  ]);
  expect(inMinutes(90)).toEqual([
    [14.4, 180, 15],
    [6, 1_080, 90],
    [1, 12_960, 1_080],
  ]);
});

// For each burn, how much of its windows a target of 99.9% may be down.
test.each<{ name: string; down: (ms: number) => number; burns: readonly number[] }>([
  { name: 'nothing burns without an outage', down: () => 0, burns: [] },
  { name: 'an outage that goes on burns everywhere', down: (ms) => ms, burns: [14.4, 6, 1] },
  {
    name: 'a minute that is gone by burns by its long windows only',
    down: (ms) => (ms > hourMs / 2 ? minute : 0),
    burns: [],
  },
  { name: 'a minute within the last five burns fast', down: () => minute, burns: [14.4] },
  {
    name: 'three minutes within the last half hour burn less fast',
    down: (ms) => (ms >= hourMs / 2 ? 3 * minute : 0),
    burns: [6],
  },
  {
    name: 'five minutes in three days, the last of them lately, burn slowly',
    down: (ms) => (ms > 2 * dayMs ? 5 : 0.4) * minute,
    burns: [1],
  },
  {
    name: 'four minutes in three days are what there is',
    down: (ms) => (ms > 2 * dayMs ? 4.3 : 0.4) * minute,
    burns: [],
  },
])('$name', ({ down, burns }) => {
  expect(burningOf(objective, down).map(({ factor }) => factor)).toEqual(burns);
});

const rounds = fc
  .array(
    fc.record({
      gap: fc.oneof(fc.nat(3 * minute), fc.nat(20 * minute), fc.nat(hourMs)),
      status: fc.constantFrom<TargetStatus>('up', 'down', 'down', 'partial', 'unknown'),
      inMaintenance: fc.boolean(),
      holdsMs: fc.constantFrom(2 * minute, 10 * minute),
    }),
    { minLength: 1, maxLength: 300 },
  )
  .map((list) => {
    let at = 20_000 * dayMs;
    return list.map(({ gap, ...verdict }) => ({ at: (at += gap + 1), verdict }));
  });

function periodsOf(
  played: readonly { at: number; verdict: Omit<VerdictPeriod, 'from' | 'last'> }[],
): readonly VerdictPeriod[] {
  const periods: VerdictPeriod[] = [];
  for (const { at, verdict } of played) {
    const next = follow(periods.at(-1) ?? null, at, verdict);
    if (next?.from === periods.at(-1)?.from) periods.pop();
    if (next !== null) periods.push(next);
  }
  return periods;
}

test('running sums are what the periods say of any window, from rounds or from what was stored', () => {
  fc.assert(
    fc.property(
      rounds,
      fc.array(fc.nat(10 * dayMs), { minLength: 5, maxLength: 5 }),
      fc.nat(2 * hourMs),
      (played, windows, after) => {
        const periods = periodsOf(played);
        const now = (played.at(-1)?.at ?? 0) + after;
        const [noted, filled] = [new Downtime(2_000 * dayMs), new Downtime(2_000 * dayMs)];
        for (const { at, verdict } of played) noted.note(at, verdict);
        filled.fill(periods);
        for (const ms of windows) {
          const { down } = timeIn({ from: now - ms, to: now }, periods, now);
          expect(noted.since(now - ms, now)).toBeCloseTo(down, 3);
          expect(filled.since(now - ms, now)).toBeCloseTo(down, 3);
        }
      },
    ),
    { numRuns: 60 },
  );
});

test('what lies far back is kept by slices: the whole period stays exact, and a window is off by its first slice at the most', () => {
  fc.assert(
    fc.property(rounds, (played) => {
      const periods = periodsOf(played);
      const now = played.at(-1)?.at ?? 0;
      const reachMs = 30 * dayMs;
      const downtime = new Downtime(reachMs);
      for (const { at, verdict } of played) downtime.note(at, verdict);
      const exact = (ms: number) => timeIn({ from: now - ms, to: now }, periods, now).down;
      expect(downtime.since(now - reachMs, now)).toBeCloseTo(exact(reachMs), 3);
      for (const ms of [hourMs, 6 * hourMs]) expect(downtime.since(now - ms, now)).toBeCloseTo(exact(ms), 3);
      for (const ms of [dayMs, 3 * dayMs]) {
        expect(Math.abs(downtime.since(now - ms, now) - exact(ms))).toBeLessThanOrEqual(hourMs);
      }
    }),
    { numRuns: 60 },
  );
});

test('a target that comes and goes for a month takes no more room than its slices', () => {
  const downtime = new Downtime(30 * dayMs);
  const start = 20_000 * dayMs;
  const verdict = { inMaintenance: false, holdsMs: 2 * minute };
  let down = 0;
  for (let at = start; at < start + 40 * dayMs; at += minute) {
    const isDown = (at / minute) % 2 === 0;
    downtime.note(at, { ...verdict, status: isDown ? 'down' : 'up' });
    if (isDown && at >= start + 10 * dayMs) down += minute;
  }
  expect(downtime.pieces).toBeLessThan(720 + 24 * 30);
  expect(downtime.since(start + 10 * dayMs, start + 40 * dayMs) / down).toBeCloseTo(1, 3);
});
