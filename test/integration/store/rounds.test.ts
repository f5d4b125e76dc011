import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Outcome } from '#checks/index.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { down, openAt, round, start, tempFolder, unanswered, up, vote } from '../../support/store.ts';

/** What is kept of a vote. */
interface Kept {
  readonly outcome: Outcome;
  readonly isLate: boolean;
}

/** The rule in so many words: what a table of votes becomes by rounds and votes that come late. */
function createModel() {
  const votes = new Map<string, Map<string, Kept>>();
  const at = (target: string, dueAt: number) => {
    const key = `${target} ${dueAt}`;
    const found = votes.get(key) ?? new Map<string, Kept>();
    votes.set(key, found);
    return found;
  };
  return {
    votes,
    round(target: string, dueAt: number, seen: ReadonlyMap<string, Outcome>): 'stored' | 'duplicate' {
      for (let name = dueAt; ; name += 1) {
        const there = at(target, name);
        const counted = [...there].filter(([, { isLate }]) => !isLate);
        if (counted.length > 0) {
          const known = new Map(counted.map(([node, { outcome }]) => [node, outcome]));
          if ([...seen].every(([node, outcome]) => isDeepStrictEqual(known.get(node), outcome))) return 'duplicate';
          continue;
        }
        for (const [node, outcome] of seen)
          if (outcome.status !== 'unknown' || !there.has(node)) there.set(node, { outcome, isLate: false });
        return 'stored';
      }
    },
    late(target: string, dueAt: number, node: string, outcome: Outcome): 'stored' | 'duplicate' {
      const there = at(target, dueAt);
      const known = there.get(node);
      if (known !== undefined && (known.outcome.status !== 'unknown' || known.isLate)) return 'duplicate';
      there.set(node, { outcome, isLate: true });
      return 'stored';
    },
  };
}

const outcomes = [up(0.01), up(0.02), down(), unanswered()];
const outcomeOf = (index: number) => outcomes[index] ?? up();

test('rounds of one node or of many, again and out of order, between late votes and restarts, leave what they should', async () => {
  const target = fc.constantFrom('shop', 'mail');
  const slot = fc.nat(5);
  const round_ = fc.record({ kind: fc.constant('round' as const), target, slot, nodes: fc.nat(25), shift: fc.nat(3) });
  const late = fc.record({ kind: fc.constant('late' as const), target, slot, node: fc.nat(25), of: fc.nat(3) });
  const restart = fc.record({ kind: fc.constant('restart' as const) });
  const steps = fc.array(fc.oneof({ arbitrary: round_, weight: 5 }, { arbitrary: late, weight: 2 }, restart), {
    minLength: 5,
    maxLength: 30,
  });
  const property = fc.asyncProperty(steps, async (all) => {
    using folder = tempFolder();
    const clock = new FakeClock();
    const path = join(folder.path, 'watchpost.db');
    let store = openAt(path, clock);
    const model = createModel();
    try {
      for (const step of all) {
        if (step.kind === 'restart') {
          await store.close();
          store = openAt(path, clock);
          continue;
        }
        const dueAt = start + step.slot * 10;
        if (step.kind === 'late') {
          const [node, outcome] = [`zz${step.node}`, outcomeOf(step.of)];
          const stored = store.recordLate({ target: step.target, dueAt, vote: vote(node, outcome), at: start });
          await clock.advance(1_000);
          expect(await stored).toBe(model.late(step.target, dueAt, node, outcome));
        } else {
          const seen = new Map(
            Array.from({ length: step.nodes + 1 }, (_, index) => [`zz${index}`, outcomeOf((index + step.shift) % 4)]),
          );
          const votes = [...seen].map(([node, outcome]) => vote(node, outcome));
          const stored = store.record(round(step.target, dueAt, { votes }));
          await clock.advance(1_000);
          expect(await stored).toBe(model.round(step.target, dueAt, seen));
        }
      }
      for (const name of ['shop', 'mail']) {
        const results = store.recentResults(name, 0).map(({ dueAt, node, status, seconds }) => {
          return { dueAt, node, status, seconds };
        });
        const expected = [...model.votes].flatMap(([key, of]) => {
          const [target = '', dueAt] = key.split(' ');
          const kept = target === name ? [...of] : [];
          return kept.map(
            ([
              node,
              {
                outcome: { status, seconds },
              },
            ]) => ({ dueAt: Number(dueAt), node, status, seconds }),
          );
        });
        expect(results).toHaveLength(expected.length);
        expect(results).toEqual(expect.arrayContaining(expected));
      }
    } finally {
      await store.close();
    }
  });
  await fc.assert(property, { numRuns: 40 });
});
