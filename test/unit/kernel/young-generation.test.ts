import { getHeapSpaceStatistics } from 'node:v8';
import { expect, test } from 'vitest';
import { widenYoungGeneration } from '#kernel/young-generation.ts';
import { FakeClock } from '../../support/fake-clock.ts';

test('it looks at the room for new objects only until that is wide enough, and no longer than minutes', async () => {
  const clock = new FakeClock();
  const widening = widenYoungGeneration(clock);
  expect(clock.pending).toBe(1);
  await clock.advance(300_000);
  expect(clock.pending).toBe(0);
  expect(getHeapSpaceStatistics().map(({ space_name: name }) => name)).toContain('new_space');
  widening[Symbol.dispose]();
});
