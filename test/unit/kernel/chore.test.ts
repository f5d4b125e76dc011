import { expect, test } from 'vitest';
import { startChore } from '#kernel/chore.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { memoryLog } from '../../support/memory-log.ts';

test('a chore is done piece by piece, then it rests for ten minutes', async () => {
  const clock = new FakeClock();
  const { log } = memoryLog();
  let done = 0;
  using _ = startChore({ step: () => (done += 1) % 4 !== 0, trouble: 'old checks were not deleted', clock, log });
  await clock.advance(1_000);
  expect(done).toBe(4);
  await clock.advance(599_000);
  expect(done).toBe(4);
  await clock.advance(1_000);
  expect(done).toBeGreaterThan(4);
});

test('a database that refuses is asked again later, and the log says so', async () => {
  const clock = new FakeClock();
  const { log, lines } = memoryLog();
  let tries = 0;
  const step = () => {
    tries += 1;
    throw new Error('disk I/O error');
  };
  const chore = startChore({ step, trouble: 'old results were not sealed', clock, log });
  await clock.advance(1_300_000);
  expect(tries).toBe(3);
  expect(lines[0]).toMatchObject({ msg: 'old results were not sealed: disk I/O error' });
  chore[Symbol.dispose]();
  expect(clock.pending).toBe(0);
});
