import { z } from 'zod';
import { defineRuleKind, unknownJudgement } from './kind.ts';

const Options = z.strictObject({
  above: z.int().min(1).max(63).describe('An incident opens if the path has more hops.'),
});

/** The path to the target has more hops than it should. */
export const hops = defineRuleKind({
  key: 'hops',
  summary: 'The path to the target has too many hops.',
  Options,
  wording: {
    word: 'PATH',
    noun: 'Long path',
    is: 'has a long path',
    was: 'had a long path',
    again: 'reached by a short path again',
    began: 'got a longer path',
    ended: 'got a shorter path',
  },
  severity: 'warning',
  nodes: { kind: 'majority' },
  isThreshold: false,
  isOutage: false,
  canBeConfirmed: false,
  windowMs: () => 0,
  refuses: ({ type, facts }) => (facts.includes('hops') ? null : `a check of the type ${type} counts no hops`),
  judge({ above }, { outcome }) {
    const count = outcome.facts.hops;
    if (count === undefined || outcome.status === 'unknown') return unknownJudgement(outcome);
    if (count <= above) return { status: 'up', reason: 'below', message: null };
    return { status: 'down', reason: 'above', message: `${count} hops` };
  },
  describe: ({ above }) => `more than ${above} ${above === 1 ? 'hop' : 'hops'}`,
});
