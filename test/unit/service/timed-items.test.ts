import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createTimedItems } from '#service/timed-items.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const item = (name: string) => ({ name, lookAt: Number.POSITIVE_INFINITY });

test('gives what is due, once, and what was added for an earlier moment then', () => {
  const timed = createTimedItems<ReturnType<typeof item>>();
  const [a, b] = [item('a'), item('b')];
  timed.add(a, 5_000);
  timed.add(b, 90_000);
  expect(timed.due(4_999)).toEqual([]);
  expect(timed.due(5_000)).toEqual([a]);
  expect(timed.due(60_000)).toEqual([]);
  timed.add(b, 61_000);
  expect(timed.due(61_500)).toEqual([b]);
});

test('whoever was added for an earlier moment is not due for the later one', () => {
  const timed = createTimedItems<ReturnType<typeof item>>();
  const one = item('a');
  timed.add(one, 60_000);
  timed.add(one, 30_000);
  expect(timed.due(30_000)).toEqual([one]);
  expect(timed.due(60_000)).toEqual([]);
  timed.add(one, 90_000);
  timed.add(one, 75_000);
  expect(timed.due(75_000)).toEqual([one]);
  timed.add(one, 90_000);
  expect(timed.due(90_000)).toEqual([one]);
});

test('after the clock was set everything is due', () => {
  const timed = createTimedItems<ReturnType<typeof item>>();
  const all = [item('a'), item('b')];
  for (const one of all) timed.add(one, 3_600_000);
  timed.reset();
  expect(timed.due(10)).toEqual(all);
  expect(timed.due(10)).toEqual([]);
});

test('whoever is added again whenever it was looked at is never looked at later than it asked for', () => {
  const steps = fc.array(fc.record({ who: fc.nat(4), inMs: fc.nat(20_000), passMs: fc.nat(5_000) }), { maxLength: 60 });
  fc.assert(
    fc.property(steps, (all) => {
      const timed = createTimedItems<ReturnType<typeof item>>();
      const items = Array.from({ length: 5 }, (_, index) => item(String(index)));
      const wanted = new Map<string, number>();
      let now = 1_000_000;
      for (const { who, inMs, passMs } of all) {
        const one = items[who]!;
        timed.add(one, now + inMs);
        wanted.set(one.name, Math.min(now + inMs, wanted.get(one.name) ?? Number.POSITIVE_INFINITY));
        now += passMs;
        for (const { name } of timed.due(now)) expect(wanted.delete(name)).toBe(true);
        for (const at of wanted.values()) expect(Math.floor(at / 1_000)).toBeGreaterThan(Math.floor(now / 1_000));
      }
    }),
  );
});

test('looks at as many as a turn takes, and at the others in the next one', () => {
  const clock = new FakeClock();
  const timed = createTimedItems<ReturnType<typeof item>>();
  for (let index = 0; index < 20; index += 1) timed.add(item(String(index)), clock.now());
  const seen: string[] = [];
  const look = () =>
    timed.look(clock, ({ name }) => {
      clock.hold(1);
      seen.push(name);
    });
  expect([look(), seen.length]).toEqual([false, 8]);
  expect([look(), seen.length]).toEqual([false, 16]);
  expect([look(), seen.length]).toEqual([true, 20]);
  expect(new Set(seen).size).toBe(20);
});
