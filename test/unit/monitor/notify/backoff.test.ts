import { describe, expect, test } from 'vitest';
import type { Random } from '#kernel/random.ts';
import { backoffMs, isHopeless, refusedMs, uncertainWaitMs } from '#monitor/notify/backoff.ts';
import { delivery } from '../../../support/incidents.ts';

const chance = (next: number): Random => ({ next: () => next, id: () => '', bytes: () => new Uint8Array() });
const middle = chance(0.5);

describe('the wait after a failed attempt', () => {
  test('doubles from 10 s to 15 min', () => {
    const waits = [0, 1, 2, 3, 4, 5, 6, 7, 60, 5_000].map((attempts) => backoffMs(attempts, middle) / 1_000);
    expect(waits).toEqual([10, 20, 40, 80, 160, 320, 640, 900, 900, 900]);
  });

  test('is spread by 20 % to either side', () => {
    expect(backoffMs(0, chance(0))).toBe(8_000);
    expect(backoffMs(0, chance(0.999_999_9))).toBe(12_000);
  });

  test('is as long as the other side asks, up to a day', () => {
    expect(backoffMs(0, middle, 3_000)).toBe(10_000);
    expect(backoffMs(0, middle, 300_000)).toBe(300_000);
    expect(backoffMs(0, middle, 1e12)).toBe(86_400_000);
  });

  test('is 30 s at most where it is urgent, and a minute at most if that was asked for', () => {
    for (const attempts of [2, 8, 500]) expect(backoffMs(attempts, chance(0.999_999_9), 0, true)).toBe(30_000);
    expect(backoffMs(0, middle, 0, true)).toBe(10_000);
    expect(backoffMs(8, middle, 45_000, true)).toBe(45_000);
    expect(backoffMs(8, middle, 1e12, true)).toBe(60_000);
  });
});

test('after a refusal for good, the wait is 1, 2 and 5 minutes, then 15 minutes, doubled up to 6 hours', () => {
  const waits = [0, 1, 2, 3, 4, 5, 6, 7, 8, 60].map((attempts) => refusedMs(attempts, middle) / 60_000);
  expect(waits).toEqual([1, 2, 5, 15, 30, 60, 120, 240, 360, 360]);
});

test('what may have been accepted waits for the least time at least, doubled up to an hour', () => {
  const waits = [0, 1, 2, 3, 60].map((attempts) => uncertainWaitMs(900_000, attempts, chance(0)) / 60_000);
  expect(waits).toEqual([15, 30, 60, 60, 60]);
  expect(uncertainWaitMs(900_000, 0, chance(0.999_999_9))).toBe(1_080_000);
  expect(uncertainWaitMs(7_200_000, 3, chance(0))).toBe(7_200_000);
});

describe('a delivery', () => {
  const week = 7 * 86_400_000;
  const { createdAt } = delivery();

  test.each([
    { name: 'is hopeless after a week of attempts', attempts: 100, age: week, hopeless: true },
    { name: 'is not hopeless before the week is over', attempts: 700, age: week - 1, hopeless: false },
    { name: 'is not hopeless after a week in which it was hardly tried', attempts: 99, age: 9 * week, hopeless: false },
    { name: 'is not hopeless when the clock was set back', attempts: 700, age: -week, hopeless: false },
  ])('$name', ({ attempts, age, hopeless }) => {
    expect(isHopeless(delivery({ attempts }), createdAt + age)).toBe(hopeless);
  });
});
