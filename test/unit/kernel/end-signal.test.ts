import { expect, test } from 'vitest';
import { EndSignal } from '#kernel/end-signal.ts';

test('whoever waits is told of the end, before and after it', async () => {
  const ending = new EndSignal();
  const told: string[] = [];
  void ending.promise.then(() => told.push('before'));
  await Promise.resolve();
  expect(told).toEqual([]);
  ending.end();
  ending.end();
  await ending.promise;
  expect(told).toEqual(['before']);
});

test('of what has ended unnoticed the end is known still', async () => {
  const ending = new EndSignal();
  ending.end();
  await expect(ending.promise).resolves.toBeUndefined();
});
