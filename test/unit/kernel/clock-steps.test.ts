import { expect, test } from 'vitest';
import { createClockSteps } from '#kernel/clock-steps.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const hour = 3_600_000;

test('a clock that is set forward makes no time go by', async () => {
  const clock = new FakeClock();
  const steps = createClockSteps(clock);
  const first = clock.now();
  await clock.advance(1_000);
  steps.look();
  clock.step(hour);
  await clock.advance(2_000);
  const second = clock.now();
  expect(steps.between(first, second)).toBe(3_000);
  clock.step(2 * hour);
  await clock.advance(4_000);
  expect(steps.between(first, clock.now())).toBe(7_000);
  expect(steps.between(second, clock.now())).toBe(4_000);
  const third = clock.now();
  await clock.advance(500);
  expect(steps.between(third, clock.now())).toBe(500);
});

test('of many steps the last are known, and of a clock that is set back the difference', async () => {
  const clock = new FakeClock();
  const steps = createClockSteps(clock);
  const first = clock.now();
  for (let count = 0; count < 30; count += 1) {
    clock.step(hour);
    await clock.advance(1_000);
    steps.look();
  }
  expect(steps.between(first, clock.now())).toBe(10 * hour + 30_000);
  const before = clock.now();
  clock.step(-hour);
  expect(steps.between(before, clock.now())).toBe(-hour);
});

test('a leap says nothing of the same time of day after the clock was set back', async () => {
  const clock = new FakeClock();
  const steps = createClockSteps(clock);
  clock.step(hour);
  steps.look();
  clock.step(-2 * hour);
  steps.look();
  await clock.advance(hour / 2);
  const from = clock.now();
  await clock.advance(2 * hour);
  expect(steps.between(from, clock.now())).toBe(2 * hour);
});
