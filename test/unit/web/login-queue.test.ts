import { expect, test } from 'vitest';
import { createLoginQueue } from '#web/access/login-queue.ts';
import { FakeClock } from '../../support/fake-clock.ts';

/** A queue whose comparisons end when the test says so. */
function scene() {
  const clock = new FakeClock();
  const queue = createLoginQueue(clock);
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const compare = async (network: string) =>
    queue.run(network, async () => {
      begun.push(network);
      const { promise, resolve } = Promise.withResolvers<string>();
      ends.push(() => resolve(`compared ${network}`));
      return promise;
    });
  const settle = async () => {
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  };
  const endOne = async () => {
    await settle();
    ends.shift()?.();
    await settle();
  };
  return { clock, queue, begun, compare, settle, endOne };
}

test('two comparisons run at a time, and networks take turns', async () => {
  const { begun, compare, settle, endOne } = scene();
  const all = ['a', 'a', 'a', 'b', 'c'].map(compare);
  await settle();
  expect(begun).toEqual(['a', 'a']);
  await endOne();
  await endOne();
  await endOne();
  expect(begun).toEqual(['a', 'a', 'a', 'b', 'c']);
  await endOne();
  await endOne();
  expect(await Promise.all(all)).toEqual(['a', 'a', 'a', 'b', 'c'].map((one) => `compared ${one}`));
});

test('a network with a login before comes first, however many others wait', async () => {
  const { queue, begun, compare, endOne } = scene();
  queue.remember('owner');
  const crowd = Array.from({ length: 60 }, (_, index) => compare(`crowd ${index}`));
  const owner = compare('owner');
  await endOne();
  expect(begun.at(-1)).toBe('owner');
  await endOne();
  await endOne();
  expect(await owner).toBe('compared owner');
  for (let index = 0; index < 60; index += 1) await endOne();
  expect(await Promise.all(crowd)).toHaveLength(60);
});

test('a network may have three waiting, and none waits for longer than thirty seconds', async () => {
  const { clock, begun, compare } = scene();
  const all = ['a', 'a', 'a', 'a', 'a', 'a'].map(compare);
  expect(await all[5]).toBe('busy');
  await clock.advance(29_999);
  expect(begun).toEqual(['a', 'a']);
  await clock.advance(1);
  expect(await Promise.all(all.slice(2))).toEqual(['busy', 'busy', 'busy', 'busy']);
  expect(begun).toEqual(['a', 'a']);
});

test('a comparison that fails leaves its place', async () => {
  const { queue, begun, compare, settle } = scene();
  const broken = async () => queue.run('a', () => Promise.reject(new Error('broken')));
  await expect(Promise.all([broken(), broken(), broken()])).rejects.toThrow('broken');
  void compare('b');
  await settle();
  expect(begun).toEqual(['b']);
});

test('where the thread is held up meanwhile, the next waits four times as long, but for a network with a login before', async () => {
  const { clock, queue, begun, compare, endOne, settle } = scene();
  queue.remember('owner');
  void compare('a');
  void compare('b');
  await settle();
  // A timer that is 400 ms late.
  clock.hold(412);
  void compare('c');
  void compare('d');
  await endOne();
  await endOne();
  expect(begun).toEqual(['a', 'b']);
  void compare('owner');
  await settle();
  expect(begun).toEqual(['a', 'b', 'owner']);
  await endOne();
  await clock.advance(1_500);
  expect(begun).toEqual(['a', 'b', 'owner']);
  await clock.advance(200);
  expect(begun).toEqual(['a', 'b', 'owner', 'c', 'd']);
});

test('where it is held up for more than a tenth of a second, one runs at a time until it is not', async () => {
  const { clock, begun, compare, endOne, settle } = scene();
  for (const network of ['a', 'b', 'c', 'd', 'e', 'f']) void compare(network);
  await settle();
  clock.hold(200);
  await endOne();
  await endOne();
  await clock.advance(1_000);
  expect(begun).toEqual(['a', 'b', 'c']);
  await endOne();
  expect(begun).toEqual(['a', 'b', 'c', 'd', 'e']);
});
