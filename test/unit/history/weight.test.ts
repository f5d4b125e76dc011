import { expect, test } from 'vitest';
import { weightAfter } from '#history/weight.ts';
import { dayMs } from '#kernel/units.ts';

const kept = { rawMs: 90 * dayMs, hoursMs: 730 * dayMs, daysMs: null };
const often = { pairs: 2_000, resultsADay: 2_880 };

test('a year of a thousand targets at two nodes every half minute is some gigabytes', () => {
  const bytes = weightAfter(365 * dayMs, [often], kept);
  expect(bytes).toBeGreaterThan(3e9);
  expect(bytes).toBeLessThan(5e9);
});

test('what is kept for less takes no more after that', () => {
  const days = (count: number, daysMs: number | null = null) =>
    weightAfter(count * dayMs, [often], { rawMs: dayMs, hoursMs: 2 * dayMs, daysMs });
  expect(days(30) - days(29)).toBeCloseTo(2_000 * 250, 3);
  expect(days(30, 10 * dayMs)).toBe(days(29, 10 * dayMs));
});

test('each part of the traffic adds its own, and what is looked at once a day next to nothing', () => {
  const daily = { pairs: 1, resultsADay: 1 };
  const one = weightAfter(365 * dayMs, [daily], kept);
  expect(weightAfter(365 * dayMs, [often, daily], kept)).toBeCloseTo(weightAfter(365 * dayMs, [often], kept) + one, 3);
  expect(one).toBeLessThan(200_000);
});
