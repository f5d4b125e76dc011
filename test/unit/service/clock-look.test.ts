import { expect, test } from 'vitest';
import { ClockLook } from '#service/clock-look.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const second = 1_000;

function looking(isUpKnown = true) {
  const clock = new FakeClock();
  let busyMs = 0;
  let sleptMs = 0;
  const clockLook = new ClockLook(clock, second, {
    busyMs: () => busyMs,
    upMs: isUpKnown ? () => clock.elapsed() + sleptMs : undefined,
  });
  return {
    clock,
    look: () => clockLook.look(),
    isOverdue: () => clockLook.isOverdue(clock.now()),
    isAhead: (ms: number) => clockLook.isAhead(clock.now() + ms),
    /** The thread is held up for so long, and computes for a part of it. */
    hold(ms: number, ownMs: number) {
      clock.hold(ms);
      busyMs += ownMs;
    },
    /** The machine: its monotonic clock stands still meanwhile. */
    sleep(ms: number) {
      sleptMs += ms;
      clock.step(ms);
    },
  };
}

const calm = { isSetBack: false, isSetForward: false, wasAway: false, isLate: false };

test.each([
  ['looks in time', 1_000, 900, 0, { ...calm, wasBusy: true }],
  ['is held up by its own work', 20 * second, 15 * second, 0, { wasAway: true, wasBusy: true, isLate: true }],
  ['is stopped', 20 * second, 10, 0, { wasAway: true, wasBusy: false, isLate: true }],
  ['works while the clock is set forward', second, 900, 20 * second, { ...calm, isSetForward: true }],
  ['is stopped while the clock is set forward', 20 * second, 10, 90 * second, { wasAway: true, isSetForward: true }],
  ['is held up while NTP sets the clock', 20 * second, 15 * second, 2 * second, { wasAway: true, isSetForward: false }],
  ['works while the clock is set back', second, 900, -20 * second, { ...calm, isSetBack: true }],
  ['is stopped while the clock is set back as far', 20 * second, 10, -20 * second, { wasAway: true, isSetBack: false }],
])('a process that %s', (_, ms, ownMs, byMs, state) => {
  const process = looking();
  process.hold(ms, ownMs);
  process.clock.step(byMs);
  expect(process.look()).toMatchObject(state);
});

test('only after the clock was set back a due time is ahead of it', () => {
  const process = looking();
  expect(process.isAhead(3_600 * second)).toBe(false);
  process.clock.step(-3_600 * second);
  process.look();
  expect([process.isAhead(5 * second), process.isAhead(5 * second + 1)]).toEqual([false, true]);
});

test('a machine that sleeps is away, also where it is not known for how long it has been up', () => {
  for (const isUpKnown of [true, false]) {
    const process = looking(isUpKnown);
    expect(process.isOverdue()).toBe(false);
    process.sleep(20 * second);
    expect(process.isOverdue()).toBe(true);
    expect(process.look()).toMatchObject({ isSetForward: false, wasAway: true });
    expect(process.isOverdue()).toBe(false);
  }
});

test('the next look comes with the tick, but after one that was late a whole second later', async () => {
  const clock = new FakeClock();
  const clockLook = new ClockLook(clock, second);
  const came: number[] = [];
  const look = () => {
    clockLook.look();
    came.push(clock.elapsed());
    clockLook.next(second, look);
  };
  clockLook.next(second, look);
  await clock.advance(1_800);
  clock.hold(900);
  await clock.advance(3_400);
  expect(came).toEqual([1_000, 2_700, 3_700, 4_000, 5_000, 6_000]);
});
