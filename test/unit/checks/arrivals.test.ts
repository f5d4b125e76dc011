import { expect, test } from 'vitest';
import { type ArrivalKind, observeArrivals, observeSending } from '#checks/arrivals.ts';
import { Stopwatch } from '#checks/http/stopwatch.ts';
import { watchLag } from '#node/lag.ts';
import { FakeClock } from '../../support/fake-clock.ts';

/** A connection of a check, at a clock whose thread can be held up, and a kernel that knows when something came. */
function connection() {
  const time = new FakeClock();
  const lag = watchLag(time);
  lag.observe('closely');
  const came: Partial<Record<ArrivalKind, number>> = {};
  const asked: ArrivalKind[] = [];
  const arrivedAt = observeArrivals(lag.clock, (what) => {
    asked.push(what);
    const at = came[what];
    return at === undefined ? null : time.elapsed() - at;
  });
  return { time, clock: lag.clock, arrivedAt, came, asked };
}

test('the kernel is not asked if the thread was not held up', async () => {
  const { time, arrivedAt, came, asked } = connection();
  came.data = 10;
  await time.advance(50);
  expect(arrivedAt()).toBe(50);
  expect(asked).toEqual([]);
});

test('the kernel is asked if the thread did other things for as long as it can tell, and as long as it waited', async () => {
  const time = new FakeClock();
  let busy = 1_000;
  let came = 0;
  const clock = {
    now: () => time.now(),
    elapsed: () => time.elapsed(),
    after: (ms: number, action: () => void) => time.after(ms, action),
    busyMs: () => busy,
  };
  const arrivedAt = observeArrivals(clock, () => time.elapsed() - came);
  const wait = async (ms: number, busyMs: number) => {
    busy += busyMs;
    await time.advance(ms);
    return arrivedAt();
  };
  came = 1;
  expect(await wait(150, 9)).toBe(150);
  expect(await wait(9, 9)).toBe(159);
  expect(await wait(150, 0)).toBe(309);
  came = 320;
  expect(await wait(30, 20)).toBe(320);
  came = 330;
  expect(await wait(1, 0)).toBe(330);
});

test('what came while the thread was held up came when the kernel says', async () => {
  const { time, arrivedAt, came, asked } = connection();
  await time.advance(30);
  Object.assign(came, { data: 70, segment: 90 });
  time.hold(200);
  expect(arrivedAt()).toBe(70);
  expect(arrivedAt('segment')).toBe(90);
  expect(asked).toEqual(['data', 'segment']);
  // What was late by then stays so.
  await time.advance(40);
  expect(arrivedAt()).toBe(70);
});

test('our own clock counts if the kernel does not tell, and if nothing observes the thread', async () => {
  const { time, arrivedAt } = connection();
  time.hold(200);
  expect(arrivedAt()).toBe(200);
  const unobserved = observeArrivals(time, () => 150);
  time.hold(100);
  expect(unobserved()).toBe(300);
});

test('a moment is never early, however long it takes to ask the kernel', async () => {
  const time = new FakeClock();
  const lag = watchLag(time);
  lag.observe('closely');
  const arrivedAt = observeArrivals(lag.clock, () => {
    const age = time.elapsed() - 70;
    time.hold(25);
    return age;
  });
  time.hold(200);
  expect(arrivedAt()).toBe(95);
});

/** The phases of a check in milliseconds. */
function phasesOf(watch: Stopwatch) {
  return Object.fromEntries(Object.entries(watch.phases).map(([phase, seconds]) => [phase, Math.round(seconds * 1e3)]));
}

test('what a late thread adds to the first byte is no part of the transfer', async () => {
  const { time, clock, arrivedAt, came } = connection();
  const watch = new Stopwatch(clock);
  watch.begin('first_byte', 'the first byte');
  await time.advance(10);
  came.data = 50;
  time.hold(210);
  watch.beginAt(arrivedAt(), 'transfer', 'the headers');
  await time.advance(1);
  watch.endAt(arrivedAt());
  expect(phasesOf(watch)).toEqual({ first_byte: 50, transfer: 0 });
});

test('what comes after a late first byte is transfer from when that had come', async () => {
  const { time, clock, arrivedAt, came } = connection();
  const watch = new Stopwatch(clock);
  watch.begin('first_byte', 'the first byte');
  await time.advance(10);
  came.data = 50;
  time.hold(210);
  watch.beginAt(arrivedAt(), 'transfer', 'the headers');
  await time.advance(80);
  came.data = 300;
  watch.endAt(arrivedAt());
  expect(phasesOf(watch)).toEqual({ first_byte: 50, transfer: 250 });
});

test('what had come before a phase began takes none of it', async () => {
  const { time, clock, arrivedAt, came } = connection();
  const watch = new Stopwatch(clock);
  came.data = 20;
  time.hold(100);
  watch.begin('first_byte', 'the first byte');
  time.hold(30);
  watch.beginAt(arrivedAt(), 'transfer', 'the headers');
  watch.endAt(arrivedAt());
  expect(phasesOf(watch)).toEqual({ first_byte: 0, transfer: 0 });
});

test('waiting to send a request is no part of the wait for its answer', async () => {
  const time = new FakeClock();
  const watch = new Stopwatch(time);
  watch.begin('first_byte', 'the first byte');
  time.hold(40);
  watch.restartAt(time.elapsed());
  await time.advance(25);
  watch.end();
  expect(phasesOf(watch)).toEqual({ first_byte: 25 });
});

test('what was written late was sent when the kernel says, and never later than it was', async () => {
  const time = new FakeClock();
  let asked = 0;
  let sentAt: number | null = null;
  const sent = observeSending(time, () => {
    asked += 1;
    time.hold(5);
    return sentAt === null ? null : time.elapsed() - sentAt;
  });
  time.hold(100);
  expect(sent(95)).toBe(95);
  expect(asked).toBe(0);
  expect(sent(20)).toBe(20);
  sentAt = 80;
  expect(sent(20)).toBe(75);
  expect(sent(79)).toBe(79);
  expect(asked).toBe(3);
});
