import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { OpenRound } from '#service/open-rounds.ts';
import { anyOutcome } from '../../support/any-outcome.ts';
import { nodeInfo } from '../../support/votes.ts';

const nodes = ['zz1', 'zz2', 'zz3', 'zz4'].map((name) => nodeInfo(name));
const vote = (node: (typeof nodes)[number]) =>
  fc.tuple(anyOutcome, fc.integer({ min: 1, max: 1e13 })).map(([outcome, startedAt]) => ({ node, outcome, startedAt }));

test('an open round has the votes that were added, in their order, however many were expected', () => {
  const some = fc.shuffledSubarray(nodes).chain((chosen) => fc.tuple(...chosen.map(vote)));
  fc.assert(
    fc.property(some, fc.integer({ min: 0, max: 6 }), (votes, expected) => {
      const round = new OpenRound(1_000, expected);
      for (const { node, outcome, startedAt } of votes) round.add(node, outcome, startedAt);
      expect([...round.votes()]).toEqual(votes.map((one) => [one.node.name, one]));
      for (const { name } of nodes) expect(round.has(name)).toBe(votes.some(({ node }) => node.name === name));
    }),
  );
});
