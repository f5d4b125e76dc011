import { afterEach, expect, test } from 'vitest';
import type { Schedule } from '#schedule/schedule.ts';
import { createWheel, type RecurringItem, type Wheel } from '#schedule/wheel.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const minute = 60_000;
const hour = 60 * minute;
const every = (everyMs: number): Schedule => ({ kind: 'every', everyMs });

interface Started {
  readonly name: string;
  readonly dueAt: number;
  readonly at: number;
}

let turning: Wheel<RecurringItem> | null = null;
afterEach(() => turning?.[Symbol.dispose]());

function turn(clock: FakeClock, { aheadMs = (): number => 0, startMs = 0 } = {}) {
  const started: Started[] = [];
  const skipped = new Map<string, number>();
  const wheel = createWheel<RecurringItem>({
    clock,
    aheadMs,
    start({ name }, dueAt) {
      started.push({ name, dueAt, at: clock.now() });
      if (startMs > 0) clock.hold(startMs);
    },
    skipped: ({ name }, count) => void skipped.set(name, (skipped.get(name) ?? 0) + count),
  });
  turning = wheel;
  return { wheel, started, skipped };
}

test('starts everything at its moment, none left out, with one timer for all', async () => {
  const clock = new FakeClock();
  const { wheel, started, skipped } = turn(clock);
  const names = Array.from({ length: 100 }, (_, index) => `t${index}`);
  for (const name of names) wheel.add({ name, schedule: every(minute) });
  expect(clock.pending).toBe(1);
  await clock.advance(10 * minute);
  for (const name of names) {
    const dues = started.filter((one) => one.name === name).map(({ dueAt }) => dueAt);
    expect(dues).toHaveLength(10);
    expect(new Set(dues.slice(1).map((due, index) => due - (dues[index] ?? 0)))).toEqual(new Set([minute]));
  }
  expect(skipped.size).toBe(0);
  expect(clock.pending).toBe(1);
});

test('due times lie in slots of a tenth of a second', async () => {
  const clock = new FakeClock();
  const { wheel, started } = turn(clock);
  for (let index = 0; index < 300; index += 1) wheel.add({ name: `t${index}`, schedule: every(20_000) });
  await clock.advance(20_000);
  expect(started).toHaveLength(300);
  expect(started.every(({ dueAt }) => dueAt % 100 === 0)).toBe(true);
});

test('where schedules are exchanged for the same in other slots, no tick is left out and none comes twice', async () => {
  const clock = new FakeClock('2026-01-01T00:00:00Z');
  const { wheel, started, skipped } = turn(clock);
  const names = Array.from({ length: 50 }, (_, index) => `t${index}`);
  const slots = { ms: 1_000, since: 0, beforeMs: 1_000 };
  for (const name of names) wheel.add({ name, schedule: { ...every(10_000), slots } });
  // Some are in the midst of being started then.
  await clock.advance(23_000);
  const others = { ms: 50, since: clock.now() + 12_000, beforeMs: 1_000 };
  for (let times = 0; times < 3; times += 1) {
    for (const name of names) wheel.add({ name, schedule: { ...every(10_000), slots: others } });
    await clock.advance(1);
  }
  await clock.advance(37_000 - 3);
  for (const name of names) {
    const ticks = started.filter((one) => one.name === name).map(({ dueAt }) => Math.round(dueAt / 1_000));
    const gaps = ticks.slice(1).map((tick, index) => Math.round((tick - (ticks[index] ?? 0)) / 10));
    expect(gaps.length, name).toBeGreaterThanOrEqual(4);
    expect(new Set(gaps), name).toEqual(new Set([1]));
  }
  expect(started.some(({ dueAt }) => dueAt % 1_000 !== 0)).toBe(true);
  expect(skipped.size).toBe(0);
});

test('starts at most eight in one go, and the others as soon as those had their turn', async () => {
  const clock = new FakeClock('2026-01-01T00:00:00Z');
  const { wheel, started } = turn(clock);
  for (let index = 0; index < 300; index += 1) wheel.add({ name: `t${index}`, schedule: every(1_000) });
  await clock.advance(1_050);
  const atOnce = new Map<number, number>();
  for (const { at } of started) atOnce.set(at, (atOnce.get(at) ?? 0) + 1);
  expect(started).toHaveLength(300);
  expect(Math.max(...atOnce.values())).toBe(8);
  expect(Math.max(...started.map(({ at, dueAt }) => at - dueAt))).toBeLessThan(20);
});

test('starts more in one go where it is behind', async () => {
  const clock = new FakeClock('2026-01-01T00:00:00Z');
  const { wheel, started } = turn(clock);
  // Eight in each millisecond are 8,000 a second; of 10,000 each is started.
  for (let index = 0; index < 10_000; index += 1) wheel.add({ name: `t${index}`, schedule: every(1_000) });
  await clock.advance(3_000);
  const perSecond = started.filter(({ at }) => at > clock.now() - 1_000);
  expect(perSecond.length).toBeGreaterThan(9_900);
  expect(Math.max(...perSecond.map(({ at, dueAt }) => at - dueAt))).toBeLessThan(150);
});

test('where more is due than can be started, each item has its turn', async () => {
  const clock = new FakeClock('2026-01-01T00:00:00Z');
  const { wheel, started, skipped } = turn(clock, { startMs: 1 });
  for (let index = 0; index < 2_000; index += 1) wheel.add({ name: `t${index}`, schedule: every(1_000) });
  await clock.advance(40_000);
  const gaps = [...Map.groupBy(started, ({ name }) => name).values()].flatMap((of) =>
    of.slice(1).map(({ at }, index) => at - (of[index]?.at ?? 0)),
  );
  expect(new Set(started.map(({ name }) => name)).size).toBe(2_000);
  expect(Math.max(...gaps)).toBeLessThan(4_000);
  expect(started.every(({ dueAt, at }) => at - dueAt < 1_000)).toBe(true);
  expect(new Set(started.map(({ name, dueAt }) => `${name} ${dueAt}`)).size).toBe(started.length);
  const counted = started.length + [...skipped.values()].reduce((sum, count) => sum + count, 0);
  expect(counted).toBeGreaterThan(2_000 * 37);
  expect(counted).toBeLessThanOrEqual(2_000 * 40);
});

test('where more is due than can be started for long, checks begin soon after their due times, and each item has its turn', async () => {
  const clock = new FakeClock('2026-01-01T00:00:00Z');
  const { wheel, started, skipped } = turn(clock, { startMs: 1 });
  const interval = 12_000;
  const add = (count: number) => {
    for (let index = 0; index < count; index += 1) wheel.add({ name: `t${index}`, schedule: every(interval) });
  };
  add(18_000);
  await clock.advance(60_000);
  const from = clock.now();
  await clock.advance(60_000);
  const later = started.filter(({ at }) => at > from);
  expect(later.length).toBeGreaterThan(57_000);
  expect(Math.max(...later.map(({ dueAt, at }) => at - dueAt))).toBeLessThan(7_000);
  const gaps = [...Map.groupBy(later, ({ name }) => name).values()].flatMap((of) =>
    of.slice(1).map(({ at }, index) => at - (of[index]?.at ?? 0)),
  );
  expect(new Set(later.map(({ name }) => name)).size).toBe(18_000);
  expect(Math.max(...gaps)).toBeLessThan(4 * interval);
  expect(new Set(started.map(({ name, dueAt }) => `${name} ${dueAt}`)).size).toBe(started.length);

  // As soon as all can be started again, none is passed over.
  for (let index = 8_000; index < 18_000; index += 1) wheel.remove(`t${index}`);
  await clock.advance(2 * interval);
  const passed = [...skipped.values()].reduce((sum, count) => sum + count, 0);
  const before = started.length;
  await clock.advance(5 * interval);
  expect(started.length - before).toBe(5 * 8_000);
  expect([...skipped.values()].reduce((sum, count) => sum + count, 0)).toBe(passed);
});

test('what many items missed is not counted in one go', async () => {
  const clock = new FakeClock();
  const { wheel, started, skipped } = turn(clock);
  for (let index = 0; index < 3_000; index += 1) wheel.add({ name: `t${index}`, schedule: every(minute) });
  clock.hold(hour);
  await clock.advance(0);
  expect(skipped.size).toBeGreaterThan(0);
  expect(skipped.size).toBeLessThanOrEqual(500);
  await clock.advance(minute);
  expect(skipped.size).toBe(3_000);
  expect(new Set(started.map(({ name }) => name)).size).toBe(3_000);
});

test('an item that was passed over has its turn too if its schedule is exchanged meanwhile', async () => {
  const clock = new FakeClock('2026-01-01T00:00:00Z');
  const { wheel, started } = turn(clock, { startMs: 1 });
  for (let index = 0; index < 2_000; index += 1) wheel.add({ name: `t${index}`, schedule: every(1_000) });
  for (let second = 0; second < 40; second += 1) {
    await clock.advance(1_000);
    const ms = second % 2 === 0 ? 20 : 10;
    const schedule = { ...every(1_000), slots: { ms, since: 0, beforeMs: ms } };
    for (let index = 0; index < 2_000; index += 1) wheel.add({ name: `t${index}`, schedule });
  }
  expect(new Set(started.map(({ name }) => name)).size).toBe(2_000);
  expect(new Set(started.map(({ name, dueAt }) => `${name} ${dueAt}`)).size).toBe(started.length);
});

test('a machine that slept counts what it missed and makes up for none of it', async () => {
  const clock = new FakeClock();
  const { wheel, started, skipped } = turn(clock);
  wheel.add({ name: 'shop', schedule: every(minute) });
  await clock.advance(minute);
  clock.step(8 * hour);
  await clock.advance(2 * minute);
  expect(started.length + (skipped.get('shop') ?? 0)).toBe(1 + 8 * 60 + 2);
  expect(started.length).toBeLessThanOrEqual(3);
  expect(started.every(({ dueAt, at }) => at - dueAt < minute)).toBe(true);
});

test('a thread that was held up starts what can still be kept, late', async () => {
  const clock = new FakeClock();
  const { wheel, started, skipped } = turn(clock);
  wheel.add({ name: 'shop', schedule: every(minute) });
  await clock.advance(minute);
  const last = started[0]?.dueAt ?? 0;
  clock.hold(last + minute + 20_000 - clock.now());
  await clock.advance(0);
  expect(started.map(({ dueAt }) => dueAt - last)).toEqual([0, minute]);
  expect(skipped.size).toBe(0);
});

test('a wall clock that is set back stops nothing and repeats no name', async () => {
  const clock = new FakeClock();
  const { wheel, started } = turn(clock);
  wheel.add({ name: 'shop', schedule: every(minute) });
  await clock.advance(10 * minute);
  clock.step(-hour);
  await clock.advance(90 * minute);
  expect(started.length).toBeGreaterThanOrEqual(98);
  expect(new Set(started.map(({ dueAt }) => dueAt)).size).toBe(started.length);
});

test('once the clock is past what had come before it was set back, due times are as everywhere else', async () => {
  const clock = new FakeClock();
  const { wheel, started } = turn(clock);
  wheel.add({ name: 'shop', schedule: every(minute) });
  await clock.advance(10 * minute);
  const first = started[0]?.dueAt ?? 0;
  clock.step(-5 * minute);
  await clock.advance(5 * minute);
  expect(started.filter(({ dueAt }) => (dueAt - first) % minute === 1).length).toBeGreaterThanOrEqual(4);
  clock.step(-2 * minute);
  await clock.advance(2 * minute);
  expect(started.some(({ dueAt }) => (dueAt - first) % minute === 2)).toBe(true);
  await clock.advance(minute);
  expect(new Set(started.map(({ dueAt }) => dueAt)).size).toBe(started.length);
  const before = started.length;
  await clock.advance(5 * minute);
  expect(started.slice(before).map(({ dueAt }) => (dueAt - first) % minute)).toEqual([0, 0, 0, 0, 0]);
});

test('a small step back of the clock, as NTP makes them, repeats nothing', async () => {
  const clock = new FakeClock();
  const { wheel, started } = turn(clock);
  wheel.add({ name: 'shop', schedule: every(10_000) });
  // It has the wheel look at the clock while that shows a time before the last start.
  wheel.add({ name: 'busy', schedule: every(100) });
  const shops = () => started.filter(({ name }) => name === 'shop');
  while (shops().length === 0) await clock.advance(10);
  clock.step(-400);
  await clock.advance(300);
  expect(clock.now()).toBeLessThan(shops()[0]?.dueAt ?? 0);
  await clock.advance(5_000);
  expect(shops()).toHaveLength(1);
  await clock.advance(6_000);
  expect(shops()).toHaveLength(2);
  const ofBusy = started.filter(({ name }) => name === 'busy').map(({ dueAt }) => dueAt);
  expect(ofBusy.every((dueAt) => (dueAt - (ofBusy[0] ?? 0)) % 100 === 0)).toBe(true);
});

test('goes by another clock where its own is wrong, from the moment that is known', async () => {
  const clock = new FakeClock('2026-01-01T00:00:00Z');
  let aheadMs = 0;
  const { wheel, started } = turn(clock, { aheadMs: () => aheadMs });
  wheel.add({ name: 'shop', schedule: every(minute) });
  aheadMs = hour;
  wheel.retime();
  await clock.advance(5 * minute);
  expect(started).toHaveLength(5);
  expect(started.every(({ dueAt, at }) => at - hour === dueAt)).toBe(true);
});

test('a correction by the hub is no clock that was set back: due times are named as at all other nodes', async () => {
  const clock = new FakeClock('2026-01-01T01:00:00Z');
  let aheadMs = 0;
  const { wheel, started } = turn(clock, { aheadMs: () => aheadMs });
  wheel.add({ name: 'shop', schedule: every(minute) });
  await clock.advance(3 * minute);
  aheadMs = hour;
  wheel.retime();
  const right = new FakeClock('2026-01-01T00:03:00Z');
  const other = turn(right);
  turning = wheel;
  other.wheel.add({ name: 'shop', schedule: every(minute) });
  const before = started.length;
  await clock.advance(10 * minute);
  await right.advance(10 * minute);
  expect(started.slice(before).map(({ dueAt }) => dueAt)).toEqual(other.started.map(({ dueAt }) => dueAt));
  expect(other.started).toHaveLength(10);
  other.wheel[Symbol.dispose]();
});

test('what is removed starts no more, what is added anew goes by its new schedule, and no timer is left', async () => {
  const clock = new FakeClock();
  const { wheel, started } = turn(clock);
  wheel.add({ name: 'shop', schedule: every(hour) });
  wheel.add({ name: 'blog', schedule: every(minute) });
  wheel.add({ name: 'shop', schedule: every(minute) });
  wheel.remove('blog');
  await clock.advance(3 * minute);
  expect(started.map(({ name }) => name)).toEqual(['shop', 'shop', 'shop']);
  wheel.remove('shop');
  await clock.advance(0);
  expect(clock.pending).toBe(0);
});

test('a pattern that never comes again is never due', async () => {
  const clock = new FakeClock();
  const { wheel, started } = turn(clock);
  wheel.add({ name: 'shop', schedule: { kind: 'cron', pattern: '0 0 0 1 1 * 2020', timezone: 'UTC' } });
  await clock.advance(hour);
  expect(started).toEqual([]);
  expect(clock.pending).toBe(0);
});

test('what is due already stays due when it is added again with another schedule', async () => {
  const clock = new FakeClock();
  const { wheel, started } = turn(clock);
  wheel.add({ name: 'shop', schedule: every(minute) });
  clock.hold(minute);
  wheel.add({ name: 'shop', schedule: every(hour) });
  await clock.advance(0);
  expect(started).toHaveLength(1);
  expect(started[0]?.dueAt).toBeLessThanOrEqual(clock.now());
});
