import { expect, test } from 'vitest';
import { ClockLook } from '#service/clock-look.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const second = 1_000;

function looking() {
  const clock = new FakeClock();
  let busyMs = 0;
  const clockLook = new ClockLook(clock, second, () => busyMs);
  return {
    clock,
    look: () => clockLook.look(),
    /** The thread is held up for so long, and computes for a part of it. */
    hold(ms: number, ownMs: number) {
      clock.hold(ms);
      busyMs += ownMs;
    },
  };
}

test.each([
  ['looks in time', 1_000, 900, 0, { wasAway: false, isLate: false }],
  ['is held up by its own work', 20 * second, 15 * second, 0, { wasAway: true, wasBusy: true, isLate: true }],
  ['is stopped', 20 * second, 10, 0, { wasAway: true, wasBusy: false, isLate: true }],
  ['works while the clock is set forward', second, 900, 20 * second, { wasAway: true, wasBusy: false, isLate: false }],
  ['is held up while NTP sets the clock', 20 * second, 15 * second, 2 * second, { wasAway: true, wasBusy: true }],
  ['works while the clock is set back', second, 900, -20 * second, { isSetBack: true, wasAway: false }],
])('a process that %s', (_, ms, ownMs, byMs, state) => {
  const process = looking();
  process.hold(ms, ownMs);
  process.clock.step(byMs);
  expect(process.look()).toMatchObject(state);
});
