import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { revisePeriods } from '#history/revise.ts';
import { follow, type VerdictPeriod, type TargetStatus } from '#history/verdict-periods.ts';

const everyMs = 10;
const holdsMs = 2 * everyMs;
const verdict = (status: TargetStatus) => ({ status, inMaintenance: false, holdsMs });

function inOrder(rounds: readonly (TargetStatus | null)[]): readonly VerdictPeriod[] {
  const periods: VerdictPeriod[] = [];
  for (const [index, status] of rounds.entries()) {
    const next = status === null ? null : follow(periods.at(-1) ?? null, (index + 1) * everyMs, verdict(status));
    if (next === null) continue;
    if (next.from === periods.at(-1)?.from) periods.pop();
    periods.push(next);
  }
  return periods;
}

function revised(periods: readonly VerdictPeriod[], index: number, status: TargetStatus): readonly VerdictPeriod[] {
  const dueAt = (index + 1) * everyMs;
  const place = periods.findLastIndex(({ from }) => from <= dueAt);
  const around = { previous: periods[place - 1] ?? null, at: periods[place] ?? null, next: periods[place + 1] ?? null };
  const round = { before: dueAt - everyMs, dueAt, after: dueAt + everyMs };
  const pieces = revisePeriods(around, round, verdict(status));
  if (pieces === null) return periods;
  const known = new Set([around.previous, around.at, around.next]);
  return [...periods.filter((one) => !known.has(one)), ...pieces].toSorted((a, b) => a.from - b.from);
}

test('rounds that get their verdict later, in any order, make the periods that they would have made in time', () => {
  const status = fc.constantFrom<TargetStatus>('up', 'down', 'partial');
  const rounds = fc.array(fc.record({ status, first: fc.constantFrom('in time', 'unknown') }), {
    minLength: 1,
    maxLength: 12,
  });
  fc.assert(
    fc.property(rounds, fc.infiniteStream(fc.nat()), (all, chance) => {
      const firstOf = (one: (typeof all)[number]) => (one.first === 'in time' ? one.status : 'unknown');
      let periods = inOrder(all.map(firstOf));
      const late = [...all.entries()].filter(([, { first }]) => first !== 'in time');
      while (late.length > 0) {
        const [[index, one] = [0, all[0]!]] = late.splice(chance.next().value % late.length, 1);
        periods = revised(periods, index, one.status);
      }
      expect(periods).toEqual(inOrder(all.map((one) => one.status)));
    }),
  );
});

test('rounds of a time in which nothing was stored make periods of their own, or prolong those beside it', () => {
  const all = ['up', 'up', 'down', 'down', 'down', 'up', 'up'] as const;
  let periods = inOrder(['up', null, null, null, null, null, 'up']);
  for (const index of [4, 1, 3, 5, 2]) periods = revised(periods, index, all[index] ?? 'unknown');
  expect(periods).toEqual(inOrder(all));
});

test('a round that had a verdict keeps it, and one without votes says nothing', () => {
  const periods = inOrder(['up', 'up', 'unknown', 'up']);
  expect(revised(periods, 1, 'down')).toBe(periods);
  expect(revised(periods, 2, 'unknown')).toBe(periods);
});

test('if it is not known when the rounds beside it were due, the usual interval is taken', () => {
  const [up, unknown, last] = inOrder(['up', 'unknown', 'unknown', 'unknown', 'up']);
  const pieces = revisePeriods(
    { previous: up ?? null, at: unknown ?? null, next: last ?? null },
    { before: null, dueAt: 3 * everyMs, after: null },
    verdict('down'),
  );
  expect(pieces?.map(({ from, last: to, status }) => [from, to, status])).toEqual([
    [10, 10, 'up'],
    [20, 20, 'unknown'],
    [30, 30, 'down'],
    [40, 40, 'unknown'],
    [50, 50, 'up'],
  ]);
});
