import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createPace } from '#client/pace.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const signal = new AbortController().signal;

test('no minute sees more turns than the budget, however they are asked for', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 8 }),
      fc.array(fc.integer({ min: 0, max: 15_000 }), { minLength: 1, maxLength: 40 }),
      async (perMinute, gaps) => {
        const clock = new FakeClock();
        const pace = createPace({ budget: { count: perMinute, perMs: 60_000 }, clock });
        const turns: number[] = [];
        for (const [index, gap] of gaps.entries()) {
          void pace.admit(`target ${index}`, signal).then((refusal) => refusal === null && turns.push(clock.elapsed()));
          await clock.advance(gap);
        }
        await clock.advance(120_000);
        for (const from of turns) {
          expect(turns.filter((at) => at >= from && at < from + 60_000).length).toBeLessThanOrEqual(perMinute);
        }
        expect(turns.length).toBeGreaterThan(0);
      },
    ),
    { numRuns: 30 },
  );
});

test('a budget that is just enough refuses nobody', async () => {
  const clock = new FakeClock();
  const pace = createPace({ budget: { count: 6, perMs: 60_000 }, clock });
  for (let round = 0; round < 18; round += 1) {
    expect(await pace.admit(`target ${round % 6}`, signal)).toBeNull();
    await clock.advance(10_000);
  }
});

test.each([1, 3, 5])('a budget that is too small goes round: %d a minute for 6', async (perMinute) => {
  const clock = new FakeClock();
  const pace = createPace({ budget: { count: perMinute, perMs: 60_000 }, clock });
  const turns = new Map<string, number>();
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  for (let minute = 0; minute < 60; minute += 1) {
    for (const name of names) {
      void pace.admit(name, signal).then((refusal) => {
        if (refusal === null) turns.set(name, (turns.get(name) ?? 0) + 1);
        else expect(refusal).toBe(`the budget of ${perMinute} checks in 1m is used up`);
      });
      await clock.advance(10_000);
    }
  }
  for (const name of names) expect(turns.get(name) ?? 0).toBeGreaterThan((0.6 * 60 * perMinute) / 6);
});

test('a pause that comes while somebody waits ends the wait with a refusal', async () => {
  const clock = new FakeClock();
  const pace = createPace({ budget: { count: 1, perMs: 60_000 }, clock });
  await pace.admit('a', signal);
  await clock.advance(55_000);
  const waiting = pace.admit('b', signal);
  pace.pause(30_000);
  await clock.advance(5_000);
  expect(await waiting).toMatch(/left alone/);
});
