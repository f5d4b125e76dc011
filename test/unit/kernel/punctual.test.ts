import { expect, test } from 'vitest';
import { createPunctualClock } from '#kernel/punctual.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { seededRandom } from '../../support/seeded-random.ts';

/** A wall clock cut to milliseconds, and timers of whole ones that come late by a part of one or two. */
function coarse(random = seededRandom(7)) {
  const fake = new FakeClock('2026-01-01T00:00:00Z');
  let extra = 0;
  const slept: number[] = [];
  let isIdle = true;
  const clock = createPunctualClock({
    clock: {
      now: () => Math.floor(fake.now() + extra + 0.3),
      elapsed: () => fake.elapsed() + extra,
      after: (ms, action) =>
        fake.after(Math.floor(ms), () => {
          extra += random.next() * 1.4;
          action();
        }),
    },
    isIdle: () => isIdle,
    sleep(ms) {
      slept.push(ms);
      extra += ms;
    },
  });
  const truth = () => fake.now() + extra + 0.3;
  return { fake, clock, truth, slept, setIdle: (idle: boolean) => (isIdle = idle) };
}

test('its time has fractions of a millisecond, and is right to a quarter of one after a while', async () => {
  const { fake, clock, truth } = coarse();
  for (let index = 0; index < 200; index += 1) {
    clock.after(20, () => clock.now());
    await fake.advance(25);
  }
  expect(Math.abs(clock.now() - truth())).toBeLessThan(0.25);
});

test('its timers are on time where the thread is idle', async () => {
  const { fake, clock, slept } = coarse();
  const late: number[] = [];
  for (let index = 0; index < 100; index += 1) {
    const end = clock.elapsed() + 40.4;
    clock.after(40.4, () => late.push(clock.elapsed() - end));
    await fake.advance(60);
  }
  expect(late).toHaveLength(100);
  expect(Math.min(...late)).toBeGreaterThanOrEqual(0);
  expect(late.filter((ms) => ms < 0.05).length).toBeGreaterThan(50);
  expect(Math.max(...slept)).toBeLessThan(2.1);
});

test('where it is not idle it does not sleep, and is not early', async () => {
  const { fake, clock, slept, setIdle } = coarse();
  setIdle(false);
  const late: number[] = [];
  for (let index = 0; index < 100; index += 1) {
    const end = clock.elapsed() + 40.4;
    clock.after(40.4, () => late.push(clock.elapsed() - end));
    await fake.advance(60);
  }
  expect(slept).toEqual([]);
  expect(late).toHaveLength(100);
  expect(Math.min(...late)).toBeGreaterThanOrEqual(0);
});

test('a wall clock that is set, back or ahead, is followed at once; one that is slewed, soon', async () => {
  const { fake, clock, truth } = coarse();
  for (const ms of [-3_600_000, 7_200_000]) {
    fake.step(ms);
    expect(Math.abs(clock.now() - truth())).toBeLessThan(1.1);
  }
  for (let second = 0; second < 60; second += 1) {
    await fake.advance(1_000);
    fake.step(-0.4);
    expect(Math.abs(clock.now() - truth())).toBeLessThan(1.5);
  }
});

test('a timer that is disposed of does not come, whichever of its parts it waits for', async () => {
  const { fake, clock, setIdle } = coarse();
  setIdle(false);
  let fired = 0;
  const timer = clock.after(10.5, () => (fired += 1));
  await fake.advance(9);
  timer[Symbol.dispose]();
  await fake.advance(100);
  expect(fired).toBe(0);
});
