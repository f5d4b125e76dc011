import { expect, test } from 'vitest';
import { createExtraPace } from '#monitor/watch/extra-pace.ts';
import { FakeClock } from '../../support/fake-clock.ts';

test('four a second begin while results wait for half a second, twenty in the ten seconds after that, and then all', async () => {
  const clock = new FakeClock();
  let waitedMs = 0;
  const pace = createExtraPace(clock, () => waitedMs);
  const begunOf = (asked: number) => Array.from({ length: asked }, () => pace.mayBegin()).filter(Boolean).length;
  const begunWithin = async (ms: number) => {
    let begun = 0;
    for (let passed = 0; passed < ms; passed += 10) {
      await clock.advance(10);
      begun += begunOf(10);
    }
    return begun;
  };
  expect(begunOf(1_000)).toBe(1_000);
  waitedMs = 499;
  expect(begunOf(1_000)).toBe(1_000);
  waitedMs = 500;
  expect(await begunWithin(10_000)).toBe(40);
  waitedMs = 0;
  expect(await begunWithin(9_990)).toBe(199);
  await clock.advance(10);
  expect(begunOf(1_000)).toBe(1_000);
});
