import { z } from 'zod';
import { singleLine } from '#kernel/text.ts';
import { defineRuleKind, unknownJudgement } from './kind.ts';

const hint = 'expected "changed": answers that are others than before';

/**
 * A node gets other answers than before. An incident closes once the answers stay the same from round to round; those are then
 * the ones to compare with.
 */
export const answers = defineRuleKind({
  key: 'answers',
  summary: 'The answers are others than before.',
  Options: z.literal('changed', { error: hint }),
  wording: {
    word: 'CHANGED',
    noun: 'Changed',
    is: 'answers differently',
    was: 'answered differently',
    again: 'answering steadily again',
    began: 'changed',
    ended: 'settled',
  },
  severity: 'warning',
  nodes: { kind: 'majority' },
  isThreshold: false,
  isOutage: false,
  canBeConfirmed: false,
  windowMs: () => 0,
  refuses: ({ type, answers: read }) =>
    read === null ? `a check of the type ${type} has no answers to compare` : null,
  judge(_, { outcome, answers: given, noted, isOpen }) {
    if (outcome.status !== 'up' || given === null) return unknownJudgement(outcome);
    const now = singleLine([...given].sort().join(', '), longestNote);
    if (noted === undefined) return { status: 'up', reason: 'first', message: null, note: now };
    if (noted === now) return { status: 'up', reason: 'same', message: null };
    const message = `answers ${singleLine(now, 80)}, before ${singleLine(noted, 80)}`;
    return { status: 'down', reason: 'changed', message, ...(isOpen ? { note: now } : {}) };
  },
  describe: () => 'other answers than before',
});

const longestNote = 500;
