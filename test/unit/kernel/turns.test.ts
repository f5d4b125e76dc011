import { describe, expect, test } from 'vitest';
import { inOneGo, createRests, inSteps, type Steps } from '#kernel/turns.ts';

function* counting(to: number, done: number[]): Steps<string> {
  for (let step = 1; step <= to; step += 1) {
    done.push(step);
    yield;
  }
  return 'all';
}

/** A clock that goes on by so many milliseconds each time it is looked at. */
function steppingClock(ms: number) {
  let now = 0;
  return { elapsed: () => (now += ms) };
}

/** How often others had their turn until the promise was settled. */
async function turnsMeanwhile(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let timer = setImmediate(function again() {
    turns += 1;
    timer = setImmediate(again);
  });
  await Promise.allSettled([work]);
  clearImmediate(timer);
  return turns;
}

describe('work in steps', () => {
  test('all at once gives the result, and others wait', () => {
    const done: number[] = [];
    expect(inOneGo(counting(100, done))).toBe('all');
    expect(done).toHaveLength(100);
  });

  test.each([
    ['a step takes as long as a turn: others come after each', 8, 20, 20],
    ['four steps are a turn', 2, 20, 5],
    ['all of it is less than a turn', 0.1, 20, 0],
  ])('%s', async (_, ms, steps, others) => {
    const done: number[] = [];
    const work = inSteps(counting(steps, done), steppingClock(ms));
    const turns = await turnsMeanwhile(work);
    expect(await work).toBe('all');
    expect(done).toEqual(Array.from({ length: steps }, (__, index) => index + 1));
    expect(turns).toBeGreaterThanOrEqual(others - 1);
    expect(turns).toBeLessThanOrEqual(others + 1);
  });

  test('a turn is as long as others took, up to 40 ms', async () => {
    let now = 0;
    const clock = { elapsed: () => now };
    const turns: number[] = [];
    const work = inSteps(
      (function* (): Steps<void> {
        for (let ms = 0; ms < 200; ms += 1) {
          now += 1;
          turns[turns.length - 1] = (turns.at(-1) ?? 0) + 1;
          yield;
        }
      })(),
      clock,
    );
    // What others took in each of their turns.
    for (const ms of [20, 500, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]) {
      turns.push(0);
      await new Promise((resolve) => void setImmediate(resolve));
      now += ms;
    }
    await work;
    expect(turns.slice(1, 5)).toEqual([20, 40, 8, 8]);
  });

  test('an error of a step is that of the whole', async () => {
    const failing = function* (): Steps<never> {
      yield;
      throw new Error('broken');
    };
    expect(() => inOneGo(failing())).toThrow('broken');
    await expect(inSteps(failing(), steppingClock(1))).rejects.toThrow('broken');
  });

  test('an aborted signal ends it after the turn, with its reason', async () => {
    const done: number[] = [];
    const stop = new AbortController();
    const work = inSteps(counting(20, done), steppingClock(8), stop.signal);
    stop.abort(new Error('enough'));
    await expect(work).rejects.toThrow('enough');
    expect(done).toEqual([1]);
  });

  test('work that waits for other things rests as well', async () => {
    const rest = createRests(steppingClock(8));
    const work = (async () => {
      for (let step = 0; step < 5; step += 1) await rest();
    })();
    expect(await turnsMeanwhile(work)).toBeGreaterThanOrEqual(4);
  });
});
