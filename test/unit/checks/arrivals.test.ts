import { expect, test } from 'vitest';
import { type ArrivalKind, observeArrivals, observeSending } from '#checks/arrivals.ts';
import { Stopwatch } from '#checks/http/stopwatch.ts';
import { FakeClock } from '../../support/fake-clock.ts';

/** A connection of a check, at a clock whose thread can be held up, and a kernel that knows when something came. */
function connection() {
  const time = new FakeClock();
  const came: Partial<Record<ArrivalKind, number>> = {};
  const asked: ArrivalKind[] = [];
  const arrivedAt = observeArrivals(time, (what) => {
    asked.push(what);
    const at = came[what];
    return at === undefined ? null : time.elapsed() - at;
  });
  return { time, arrivedAt, came, asked };
}

test('the kernel is not asked about less than it can tell', async () => {
  const { time, arrivedAt, came, asked } = connection();
  came.data = 2;
  await time.advance(9);
  expect(arrivedAt()).toBe(9);
  await time.advance(9);
  expect(arrivedAt()).toBe(18);
  expect(asked).toEqual([]);
  came.data = 20;
  await time.advance(10);
  expect(arrivedAt()).toBe(20);
  expect(asked).toEqual(['data']);
});

test('what was read at once came when it was read', async () => {
  const { time, arrivedAt, came } = connection();
  await time.advance(150);
  came.data = 150;
  expect(arrivedAt()).toBe(150);
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

test('our own clock counts if the kernel does not tell', async () => {
  const { time, arrivedAt } = connection();
  time.hold(200);
  expect(arrivedAt()).toBe(200);
});

test('a moment is never early, however long it takes to ask the kernel', async () => {
  const time = new FakeClock();
  const arrivedAt = observeArrivals(time, () => {
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
  const { time, arrivedAt, came } = connection();
  const watch = new Stopwatch(time);
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
  const { time, arrivedAt, came } = connection();
  const watch = new Stopwatch(time);
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
  const { time, arrivedAt, came } = connection();
  const watch = new Stopwatch(time);
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
