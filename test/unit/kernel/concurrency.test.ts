import { expect, test } from 'vitest';
import { createInTurn, createPool } from '#kernel/concurrency.ts';
import { WatchpostError } from '#kernel/errors.ts';

test('runs as many tasks at a time as it may, and the next one when one has ended', async () => {
  const pool = createPool({ running: 2, queued: 5 });
  const gates = [0, 1, 2].map(() => Promise.withResolvers<number>());
  const begun: number[] = [];
  const results = gates.map(async ({ promise }, index) =>
    pool.run(async () => {
      begun.push(index);
      return promise;
    }),
  );
  await new Promise(setImmediate);
  expect(begun).toEqual([0, 1]);
  expect([pool.running, pool.queued]).toEqual([2, 1]);
  gates[0]!.resolve(10);
  expect(await results[0]).toBe(10);
  await new Promise(setImmediate);
  expect(begun).toEqual([0, 1, 2]);
  gates[1]!.resolve(11);
  gates[2]!.resolve(12);
  expect(await Promise.all(results)).toEqual([10, 11, 12]);
  expect([pool.running, pool.queued]).toEqual([0, 0]);
});

test('refuses what does not fit, before the task begins', async () => {
  const pool = createPool({ running: 1, queued: 1 });
  const gate = Promise.withResolvers<void>();
  const accepted = [pool.run(async () => gate.promise), pool.run(async () => gate.promise)];
  let begun = false;
  const refused = await pool.run(async () => void (begun = true)).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(WatchpostError);
  expect(refused).toMatchObject({ code: 'node_busy', message: 'busy: 1 running and 1 waiting' });
  gate.resolve();
  await Promise.all(accepted);
  expect(begun).toBe(false);
});

test('takes all that fit when they come in the same instant, and no more', async () => {
  const pool = createPool({ running: 3, queued: 2 });
  const gate = Promise.withResolvers<void>();
  const all = Array.from({ length: 8 }, async () => pool.run(async () => gate.promise));
  gate.resolve();
  const settled = await Promise.allSettled(all);
  expect(settled.map(({ status }) => status)).toEqual([...Array(5).fill('fulfilled'), ...Array(3).fill('rejected')]);
});

test('without a queue it takes what can run at once', async () => {
  const pool = createPool({ running: 1, queued: 0 });
  await expect(pool.run(async () => 1)).resolves.toBe(1);
  await expect(pool.run(async () => 2)).resolves.toBe(2);
});

test('a task that fails makes room for the next one', async () => {
  const pool = createPool({ running: 1, queued: 0 });
  await expect(pool.run(async () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  await expect(pool.run(async () => 2)).resolves.toBe(2);
});

test('one after the other, in the order in which they came, whatever became of the one before', async () => {
  const inTurn = createInTurn();
  const gates = [0, 1, 2].map(() => Promise.withResolvers<string>());
  const begun: number[] = [];
  const results = gates.map(async ({ promise }, index) =>
    inTurn(async () => {
      begun.push(index);
      return promise;
    }),
  );
  const ended = Promise.allSettled(results);
  await new Promise(setImmediate);
  expect(begun).toEqual([0]);
  gates[2]!.resolve('third');
  gates[0]!.reject(new Error('the first failed'));
  await expect(results[0]).rejects.toThrow('the first failed');
  await new Promise(setImmediate);
  expect(begun).toEqual([0, 1]);
  gates[1]!.resolve('second');
  expect((await ended).map((one) => (one.status === 'fulfilled' ? one.value : one.status))).toEqual([
    'rejected',
    'second',
    'third',
  ]);
  await expect(
    inTurn(() => {
      throw new Error('before it began');
    }),
  ).rejects.toThrow('before it began');
  expect(await inTurn(async () => 'and it goes on')).toBe('and it goes on');
});
