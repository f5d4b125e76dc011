import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Vote } from '#monitor/judge/vote.ts';
import { KeptVotes } from '#web/state/kept-votes.ts';
import { anyOutcome } from '../../support/any-outcome.ts';
import { nodeInfo, up } from '../../support/votes.ts';

const nodes = ['zz1', 'zz2', 'zz3', 'zz4'].map((name) => nodeInfo(name));
const vote = (node: Vote['node']) =>
  fc
    .tuple(anyOutcome, fc.option(fc.integer({ min: 1, max: 1e13 }), { nil: undefined }))
    .map(([seen, startedAt]): Vote => ({ node, outcome: seen, ...(startedAt !== undefined && { startedAt }) }));
const round = fc.subarray(nodes).chain((some) => fc.tuple(...some.map(vote)));

test('what is kept are the votes of the last round, whatever those of the rounds before were', () => {
  fc.assert(
    fc.property(fc.array(round, { minLength: 1, maxLength: 8 }), (rounds) => {
      const kept = new KeptVotes();
      for (const votes of rounds) {
        kept.keep(votes);
        expect(kept.list()).toEqual(votes);
        const phases = (all: readonly Vote[]) => all.map(({ outcome: { phases } }) => Object.keys(phases));
        expect(phases(kept.list())).toEqual(phases(votes));
      }
    }),
  );
});

test('a healthy round that differs in its times only changes no vote that was handed in before', () => {
  const kept = new KeptVotes();
  const [facts, detail] = [{}, {}];
  const of = (took: number): readonly Vote[] =>
    nodes.map((node) => ({ node, outcome: { ...up(took, { facts, phases: { connect: took } }), detail } }));
  const first = of(1);
  kept.keep(first);
  kept.keep(of(2));
  kept.keep(of(3));
  expect(kept.list()).toEqual(of(3));
  expect(first.map(({ outcome }) => outcome)).toEqual(of(1).map(({ outcome }) => outcome));
});
