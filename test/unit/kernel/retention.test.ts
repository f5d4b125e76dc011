import { expect, test } from 'vitest';
import { forgetOld } from '#kernel/retention.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { memoryLog } from '../../support/memory-log.ts';

const day = 86_400_000;

test('what is too old goes piece by piece, then it is looked for every ten minutes', async () => {
  const clock = new FakeClock();
  const { log } = memoryLog();
  const asked: number[] = [];
  const pieces = [2_000, 2_000, 500, 0, 0];
  const prune = (before: number) => {
    asked.push(clock.now() - before);
    return pieces.shift() ?? 0;
  };
  using _ = forgetOld({ what: 'results', prune, keepMs: 14 * day, clock, log });
  await clock.advance(1_000);
  expect(asked).toEqual([14 * day, 14 * day, 14 * day, 14 * day]);
  await clock.advance(600_000);
  expect(asked).toHaveLength(5);
});

test('a database that refuses is asked again later, and the log says so', async () => {
  const clock = new FakeClock();
  const { log, lines } = memoryLog();
  let tries = 0;
  const prune = () => {
    tries += 1;
    throw new Error('disk I/O error');
  };
  const retention = forgetOld({ what: 'results', prune, keepMs: day, clock, log });
  await clock.advance(1_300_000);
  expect(tries).toBe(3);
  expect(lines[0]).toMatchObject({ msg: 'old results were not deleted: disk I/O error' });
  retention[Symbol.dispose]();
  expect(clock.pending).toBe(0);
});
