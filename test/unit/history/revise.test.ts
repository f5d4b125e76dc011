import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { reviseSpells } from '#history/revise.ts';
import { follow, type VerdictPeriod, type TargetStatus } from '#history/spells.ts';

const everyMs = 10;
const holdsMs = 2 * everyMs;
const verdict = (status: TargetStatus) => ({ status, inMaintenance: false, holdsMs });

function inOrder(rounds: readonly (TargetStatus | null)[]): readonly VerdictPeriod[] {
  const spells: VerdictPeriod[] = [];
  for (const [index, status] of rounds.entries()) {
    const next = status === null ? null : follow(spells.at(-1) ?? null, (index + 1) * everyMs, verdict(status));
    if (next === null) continue;
    if (next.from === spells.at(-1)?.from) spells.pop();
    spells.push(next);
  }
  return spells;
}

function revised(spells: readonly VerdictPeriod[], index: number, status: TargetStatus): readonly VerdictPeriod[] {
  const dueAt = (index + 1) * everyMs;
  const place = spells.findLastIndex(({ from }) => from <= dueAt);
  const around = { previous: spells[place - 1] ?? null, at: spells[place] ?? null, next: spells[place + 1] ?? null };
  const round = { before: dueAt - everyMs, dueAt, after: dueAt + everyMs };
  const pieces = reviseSpells(around, round, verdict(status));
  if (pieces === null) return spells;
  const known = new Set([around.previous, around.at, around.next]);
  return [...spells.filter((one) => !known.has(one)), ...pieces].toSorted((a, b) => a.from - b.from);
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
      let spells = inOrder(all.map(firstOf));
      const late = [...all.entries()].filter(([, { first }]) => first !== 'in time');
      while (late.length > 0) {
        const [[index, one] = [0, all[0]!]] = late.splice(chance.next().value % late.length, 1);
        spells = revised(spells, index, one.status);
      }
      expect(spells).toEqual(inOrder(all.map((one) => one.status)));
    }),
  );
});

test('rounds of a time in which nothing was stored make periods of their own, or prolong those beside it', () => {
  const all = ['up', 'up', 'down', 'down', 'down', 'up', 'up'] as const;
  let spells = inOrder(['up', null, null, null, null, null, 'up']);
  for (const index of [4, 1, 3, 5, 2]) spells = revised(spells, index, all[index] ?? 'unknown');
  expect(spells).toEqual(inOrder(all));
});

test('a round that had a verdict keeps it, and one without votes says nothing', () => {
  const spells = inOrder(['up', 'up', 'unknown', 'up']);
  expect(revised(spells, 1, 'down')).toBe(spells);
  expect(revised(spells, 2, 'unknown')).toBe(spells);
});

test('if it is not known when the rounds beside it were due, the usual interval is taken', () => {
  const [up, unknown, last] = inOrder(['up', 'unknown', 'unknown', 'unknown', 'up']);
  const pieces = reviseSpells(
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
