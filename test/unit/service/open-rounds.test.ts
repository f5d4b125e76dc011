import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { OpenRound, OpenRounds } from '#service/open-rounds.ts';
import { anyOutcome } from '../../support/any-outcome.ts';
import { nodeInfo, up } from '../../support/votes.ts';

const nodes = ['zz1', 'zz2', 'zz3', 'zz4'].map((name) => nodeInfo(name));
const vote = (node: (typeof nodes)[number]) =>
  fc.tuple(anyOutcome, fc.integer({ min: 1, max: 1e13 })).map(([outcome, startedAt]) => ({ node, outcome, startedAt }));

test('an open round has the votes that were added, in their order, however many were expected', () => {
  const some = fc.shuffledSubarray(nodes).chain((chosen) => fc.tuple(...chosen.map(vote)));
  fc.assert(
    fc.property(some, fc.integer({ min: 0, max: 6 }), (votes, expected) => {
      const round = new OpenRound(1_000, null, expected);
      for (const { node, outcome, startedAt } of votes) round.add(node, outcome, startedAt);
      expect([...round.votes()]).toEqual(votes.map((one) => [one.node.name, one]));
      for (const { name } of nodes) expect(round.has(name)).toBe(votes.some(({ node }) => node.name === name));
    }),
  );
});

test('rounds are found by their due time, and those that were due first are dropped first', () => {
  const dueTimes = fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 10 });
  fc.assert(
    fc.property(dueTimes, fc.integer({ min: 0, max: 20 }), (dues, moment) => {
      const rounds = new OpenRounds();
      for (const dueAt of dues) expect(rounds.open(dueAt, 1)).toBe(rounds.find(dueAt));
      const sorted = [...new Set(dues)].toSorted((a, b) => a - b);
      expect(rounds.duesUntil(20)).toEqual(sorted);
      expect(rounds.duesUntil(moment)).toEqual(sorted.filter((dueAt) => dueAt <= moment));
      rounds.dropUntil(moment);
      const left = sorted.filter((dueAt) => dueAt > moment);
      expect(rounds.duesUntil(20)).toEqual(left);
      expect(rounds.firstDueAt).toBe(left[0] ?? Number.POSITIVE_INFINITY);
      expect(rounds.find(moment)).toBeUndefined();
    }),
  );
});

test('a round that was opened is not opened again', () => {
  const rounds = new OpenRounds();
  rounds.open(2_000, 2).add(nodes[0]!, up(), 2_001);
  rounds.open(1_000, 2);
  rounds.open(2_000, 2).add(nodes[1]!, up(), 2_002);
  expect([...rounds.open(2_000, 2).votes().keys()]).toEqual(['zz1', 'zz2']);
});
