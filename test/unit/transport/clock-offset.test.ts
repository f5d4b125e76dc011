import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { measureClockOffset } from '#transport/nats/clock-offset.ts';

/** Questions to a side whose clock is behind by `aheadMs`; each takes its time to get there and to come back. */
function asking(aheadMs: number) {
  let elapsed = 0;
  const offset = measureClockOffset(() => elapsed);
  return {
    offset,
    ask: (thereMs: number, backMs: number, changedMs = 0) => {
      elapsed += thereMs + backMs;
      offset.heard({
        now: elapsed + aheadMs + changedMs,
        tookMs: thereMs + backMs,
        theirs: elapsed - backMs,
      });
    },
    wait: (ms: number) => void (elapsed += ms),
  };
}

test('an answer that took long moves nothing that a quick one told', () => {
  const { offset, ask, wait } = asking(500);
  expect(offset.ms).toBeNull();
  ask(1, 1);
  expect(offset.ms).toBe(500);
  for (let times = 0; times < 10; times += 1) {
    wait(5_000);
    ask(0, 3_000);
    ask(3_000, 0);
    expect(offset.ms).toBe(500);
  }
});

test('a quick answer betters what a slow one told', () => {
  const { offset, ask } = asking(500);
  ask(0, 3_000);
  expect(offset.ms).toBe(2_000);
  ask(2, 2);
  expect(offset.ms).toBe(500);
});

test('a clock that is set is noticed by the next answer that could not be true otherwise', () => {
  const { offset, ask, wait } = asking(0);
  ask(1, 1);
  wait(5_000);
  ask(20, 20, 3_600_000);
  expect(offset.ms).toBe(3_600_000);
});

test('a clock that drifts is followed', () => {
  const { offset, ask, wait } = asking(0);
  let drift = 0;
  for (let times = 0; times < 1_000; times += 1) {
    ask(10, 10, drift);
    wait(5_000);
    drift += 0.5;
  }
  expect(Math.abs((offset.ms ?? 0) - drift)).toBeLessThan(25);
});

test('is never farther off than half of the quickest answer, where no clock drifts', () => {
  const way = fc.nat(5_000);
  fc.assert(
    fc.property(
      fc.integer({ min: -1e6, max: 1e6 }),
      fc.array(fc.tuple(way, way), { minLength: 1, maxLength: 10 }),
      (ahead, ways) => {
        const { offset, ask } = asking(ahead);
        for (const [there, back] of ways) ask(there, back);
        const quickest = Math.min(...ways.map(([there, back]) => there + back));
        expect(Math.abs((offset.ms ?? 0) - ahead)).toBeLessThanOrEqual(quickest / 2 + 60);
      },
    ),
  );
});
