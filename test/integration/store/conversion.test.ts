import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createReader } from '#history/create-reader.ts';
import { dayMs, hourMs } from '#kernel/units.ts';
import type { Store } from '#store/sqlite.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { down, leaveBehind, openAt, round, start, tempFolder, unanswered, up, vote } from '../../support/store.ts';

const minute = 60_000;
const end = start + 3 * dayMs;
const names = ['mail', 'shop'];

/** What two nodes see, and what most of them make of it. */
const seen = {
  up: { votes: [vote('de1', up()), vote('us1', up())], status: 'up' },
  down: { votes: [vote('de1', down()), vote('us1', down())], status: 'down' },
  split: { votes: [vote('de1', up()), vote('us1', down())], status: 'partial' },
  alone: { votes: [vote('de1', down()), vote('us1', unanswered())], status: 'down' },
  nobody: { votes: [vote('de1', unanswered()), vote('us1', unanswered())], status: 'unknown' },
} as const;
type Sight = keyof typeof seen;

/** Rounds every ten minutes, in stretches that are seen alike; null is a time in which nothing ran. */
const stretches = fc.array(
  fc.record({
    rounds: fc.integer({ min: 1, max: 90 }),
    sight: fc.option(fc.constantFrom<Sight>('up', 'up', 'down', 'split', 'alone', 'nobody'), { freq: 6 }),
  }),
  { minLength: 1, maxLength: 30 },
);

function playedOf(list: readonly { readonly rounds: number; readonly sight: Sight | null }[]) {
  const sights = list.flatMap(({ rounds, sight }) => Array.from({ length: rounds }, () => sight));
  return sights
    .map((sight, index) => ({ dueAt: start + 17_000 + index * 10 * minute, sight }))
    .filter(({ dueAt }) => dueAt < end);
}

// The time between rounds is told by their days alone: one that has a single round says nothing of it.
function haveRhythm(played: ReturnType<typeof playedOf>, until: number): boolean {
  const dues = played.flatMap(({ dueAt, sight }) => (sight === null || dueAt >= until ? [] : dueAt));
  return [...Map.groupBy(dues, (dueAt) => Math.floor(dueAt / dayMs)).values()].every((day) => {
    const gaps = day.slice(1).map((dueAt, index) => dueAt - (day[index] ?? dueAt));
    return gaps.toSorted((a, b) => a - b)[Math.floor(gaps.length / 2)] === 10 * minute;
  });
}

async function recordAll(
  store: Store,
  clock: FakeClock,
  played: ReturnType<typeof playedOf>,
  knows: (dueAt: number) => boolean,
): Promise<void> {
  const stored = played.flatMap(({ dueAt, sight }) => {
    if (sight === null) return [];
    const { votes, status } = seen[sight];
    const verdict = { status, inMaintenance: false, holdsMs: 20 * minute };
    return names.map(async (name) => store.record(round(name, dueAt, { votes, ...(knows(dueAt) ? { verdict } : {}) })));
  });
  // Healthy rounds wait up to three seconds for others.
  await clock.advance(4_000);
  await Promise.all(stored);
}

test('rounds of before verdicts were kept get them, wherever that is cut off: time is what it would have been', async () => {
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(stretches, fc.array(fc.nat(40), { maxLength: 6 }), fc.nat(100), async (list, cuts, share) => {
      const liveFrom = start + ((end - start) * share) / 100;
      const played = playedOf(list);
      fc.pre(haveRhythm(played, liveFrom));
      using folder = tempFolder();
      const clock = new FakeClock(new Date(end + 3 * hourMs).toISOString());
      let path = join(folder.path, 'old.db');
      await using known = openAt(join(folder.path, 'known.db'), clock);
      let old = openAt(path, clock);
      try {
        await recordAll(known, clock, played, () => true);
        await recordAll(old, clock, played, (dueAt) => dueAt >= liveFrom);
        for (const pieces of cuts) {
          for (let piece = 0; piece < pieces; piece += 1) old.upkeep();
          leaveBehind(path, `${path}+`);
          await old.close();
          old = openAt((path += '+'), clock);
        }
        for (const store of [known, old]) while (store.upkeep());
        expect(old.upkeepProgress().targetsUnjudged).toBe(0);
        const times = [known, old].map(async (store) => {
          const reader = createReader({ source: store.history, targets: () => [], clock });
          const all = names.map(async (target) =>
            (await reader.series({ from: start, to: end, of: { target }, stepMs: dayMs })).parts.map(
              ({ time }) => time,
            ),
          );
          return Promise.all(all);
        });
        const [expected, found] = await Promise.all(times);
        expect(found).toEqual(expected);
        compared += 1;
      } finally {
        await old.close();
      }
    }),
    { numRuns: 25, interruptAfterTimeLimit: 90_000 },
  );
  // An interrupt is no failure, but comparing nothing is.
  expect(compared).toBeGreaterThan(0);
});
