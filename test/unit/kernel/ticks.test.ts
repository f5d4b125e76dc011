import { expect, test } from 'vitest';
import type { Clock } from '#kernel/clock.ts';
import { onTick } from '#kernel/ticks.ts';
import { FakeClock } from '../../support/fake-clock.ts';

/** Calls `onTick` again and again, and notes when each call came. */
function looks(clock: Clock, ms: number): { readonly at: readonly number[] } & Disposable {
  const at: number[] = [];
  let timer = onTick(clock, ms, look);
  function look(): void {
    at.push(Math.round(clock.elapsed()));
    timer = onTick(clock, ms, look);
  }
  return { at, [Symbol.dispose]: () => timer[Symbol.dispose]() };
}

test('what begins at different moments comes at the same whole seconds, with one timer', async () => {
  const clock = new FakeClock();
  await clock.advance(250);
  using one = looks(clock, 1_000);
  await clock.advance(300);
  using three = looks(clock, 3_000);
  using odd = looks(clock, 2_700);
  expect(clock.pending).toBe(1);
  await clock.advance(6_000);
  expect(one.at).toEqual([1_000, 2_000, 3_000, 4_000, 5_000, 6_000]);
  expect(three.at).toEqual([3_000, 6_000]);
  expect(odd.at).toEqual([3_000, 5_000]);
  expect(clock.pending).toBe(1);
});

test.each([
  ['a little too early', -0.9],
  ['late', 140],
])('timers that come %s do not shift the next ones', async (_, byMs) => {
  const fake = new FakeClock();
  const clock: Clock = {
    now: () => fake.now(),
    elapsed: () => fake.elapsed(),
    after: (ms, action) => fake.after(ms + byMs, action),
  };
  using one = looks(clock, 1_000);
  await fake.advance(4_500);
  const expected = [1_000, 2_000, 3_000, 4_000].map((ms) => Math.round(ms + byMs));
  expect(one.at).toEqual(expected);
});

test('what is disposed of does not come, and no timer is left', async () => {
  const clock = new FakeClock();
  const came: string[] = [];
  const first = onTick(clock, 1_000, () => {
    came.push('first');
    second[Symbol.dispose]();
  });
  const second = onTick(clock, 1_000, () => came.push('second'));
  const later = onTick(clock, 5_000, () => came.push('later'));
  await clock.advance(1_000);
  expect(came).toEqual(['first']);
  later[Symbol.dispose]();
  first[Symbol.dispose]();
  expect(clock.pending).toBe(0);
});

test('one that fails holds up no other', async () => {
  const clock = new FakeClock();
  using other = looks(clock, 2_000);
  onTick(clock, 2_000, () => {
    throw new Error('it failed');
  });
  using last = looks(clock, 2_000);
  await expect(clock.advance(2_000)).rejects.toThrow('it failed');
  await clock.advance(2_000);
  expect(other.at).toEqual([2_000, 4_000]);
  expect(last.at).toEqual([2_000, 4_000]);
});

test('less than a second is waited as it is', async () => {
  const clock = new FakeClock();
  await clock.advance(500);
  let cameAt = 0;
  onTick(clock, 700, () => (cameAt = clock.elapsed()));
  await clock.advance(1_000);
  expect(cameAt).toBe(1_200);
});
