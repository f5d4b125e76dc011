import { expect, test } from 'vitest';
import { createExtraPace } from '#monitor/watch/extra-pace.ts';
import { FakeClock } from '../../support/fake-clock.ts';

test('none begins while results wait for half a second, twenty a second do in the ten seconds after that, and then all', async () => {
  const clock = new FakeClock();
  let waitedMs = 0;
  const pace = createExtraPace(clock, () => waitedMs);
  const begunOf = (asked: number) => Array.from({ length: asked }, () => pace.mayBegin()).filter(Boolean).length;
  expect(begunOf(1_000)).toBe(1_000);
  waitedMs = 499;
  expect(begunOf(1_000)).toBe(1_000);
  waitedMs = 500;
  expect(begunOf(1_000)).toBe(0);
  waitedMs = 0;
  let begun = 0;
  for (let ms = 0; ms < 9_990; ms += 10) {
    await clock.advance(10);
    begun += begunOf(10);
  }
  expect(begun).toBe(199);
  await clock.advance(10);
  expect(begunOf(1_000)).toBe(1_000);
});
