import { z } from 'zod';
import { Percentage } from '#kernel/unit-schemas.ts';
import { defineRuleKind, unknownJudgement } from './kind.ts';

const Options = z
  .strictObject({
    above: Percentage().describe('An incident opens above this.'),
    clear: Percentage()
      .optional()
      .describe('It closes at this or below; between the two nothing changes. Default: the same as above.'),
  })
  .superRefine(({ above, clear }, context) => {
    if (clear !== undefined && clear > above)
      context.addIssue({ code: 'custom', path: ['clear'], message: 'must be at most what above is' });
  });

/** Part of what is sent to the target gets lost. */
export const loss = defineRuleKind({
  key: 'loss',
  summary: 'Part of what is sent to the target is lost.',
  Options,
  wording: {
    word: 'LOSS',
    noun: 'Loss',
    is: 'loses packets',
    was: 'lost packets',
    again: 'free of loss again',
    began: 'began to lose packets',
    ended: 'stopped losing them',
  },
  severity: 'warning',
  nodes: { kind: 'majority' },
  isThreshold: false,
  isOutage: false,
  canBeConfirmed: false,
  windowMs: () => 0,
  refuses: ({ type, facts }) => (facts.includes('loss') ? null : `a check of the type ${type} measures no loss`),
  judge({ above, clear = above }, { outcome, isOpen }) {
    const lost = outcome.facts.loss;
    if (lost === undefined || outcome.status === 'unknown') return unknownJudgement(outcome);
    const message = `${describeShare(lost)} lost`;
    if (lost > above) return { status: 'down', reason: 'above', message };
    if (isOpen && lost > clear) return { status: 'down', reason: 'not_clear', message };
    return { status: 'up', reason: 'below', message: null };
  },
  describe: ({ above }) => `more than ${describeShare(above)} lost`,
});

function describeShare(ratio: number): string {
  return `${Number((ratio * 100).toFixed(1))}%`;
}
