import { expect, test } from 'vitest';
import { observeLateness } from '#kernel/lateness.ts';
import { FakeClock } from '../../support/fake-clock.ts';

/** A clock whose timers come late by so many milliseconds, in turn. */
function lateBy(fake: FakeClock, late: readonly number[]) {
  const left = [...late];
  return observeLateness({
    now: () => fake.now(),
    elapsed: () => fake.elapsed(),
    after: (ms, action) => fake.after(ms + (left.shift() ?? 0), action),
  });
}

test('tells how late the timers came since it was asked last, and makes none of its own', async () => {
  const fake = new FakeClock();
  const { clock, take } = lateBy(fake, [0, 0, 0, 250]);
  expect(take()).toEqual({ p50: 0, p99: 0, max: 0 });
  let fired = 0;
  for (const ms of [10, 20, 30, 40]) clock.after(ms, () => (fired += 1));
  await fake.advance(1_000);
  expect(fired).toBe(4);
  const { p50, p99, max } = take();
  expect(p50).toBeLessThan(0.001);
  expect(p99).toBeCloseTo(0.25, 3);
  expect(max).toBeCloseTo(0.25, 3);
  await fake.advance(60_000);
  expect(take()).toEqual({ p50: 0, p99: 0, max: 0 });
});

test('a timer that is disposed of is not observed', async () => {
  const fake = new FakeClock();
  const { clock, take } = lateBy(fake, [500]);
  clock.after(10, () => {})[Symbol.dispose]();
  await fake.advance(1_000);
  expect(take().max).toBe(0);
});
