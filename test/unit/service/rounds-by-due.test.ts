import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { RoundsByDue } from '#service/rounds-by-due.ts';

const dueTime = fc.integer({ min: 0, max: 20 });

test('rounds are found by their due time until they are deleted, or dropped with all that were due before', () => {
  fc.assert(
    fc.property(fc.uniqueArray(dueTime, { maxLength: 10 }), dueTime, dueTime, (dues, moment, deleted) => {
      const rounds = new RoundsByDue<{ readonly dueAt: number }>();
      for (const dueAt of dues) rounds.add({ dueAt });
      rounds.delete(deleted);
      rounds.dropUntil(moment);
      const left = dues.filter((dueAt) => dueAt > moment && dueAt !== deleted);
      expect(rounds.all()).toEqual(left.map((dueAt) => ({ dueAt })));
      expect(rounds.isEmpty).toBe(left.length === 0);
      expect(rounds.firstDueAt).toBe(Math.min(...left));
      for (const dueAt of dues) expect(rounds.find(dueAt)?.dueAt).toBe(left.includes(dueAt) ? dueAt : undefined);
    }),
  );
});

test('rounds are added after others were dropped', () => {
  const rounds = new RoundsByDue<{ readonly dueAt: number }>();
  for (const dueAt of [1, 2, 3]) rounds.add({ dueAt });
  rounds.dropUntil(1);
  rounds.add({ dueAt: 4 });
  expect(rounds.firstDueAt).toBe(2);
  for (const dueAt of [2, 3, 4]) expect(rounds.find(dueAt)).toEqual({ dueAt });
  rounds.dropUntil(4);
  expect(rounds.isEmpty).toBe(true);
});
