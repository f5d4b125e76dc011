import { z } from 'zod';
import { isAlerting, parseThresholdRange, ThresholdText } from '#checks/index.ts';
import { defineRuleKind, unknownJudgement } from './kind.ts';

const Options = z.strictObject({
  label: z.string().min(1).max(64).describe('The label of the value in the performance data.'),
  range: ThresholdText.describe(
    'The range of good values as plugins write it: an incident opens outside of "10:20", "10" (0 to 10), "10:", "~:10", or inside of "@10:20". In the unit of the plugin.',
  ),
});

/** A value that a plugin measured is outside its range. */
export const value = defineRuleKind({
  key: 'value',
  summary: 'A value of the performance data of a plugin is outside its range.',
  Options,
  wording: {
    word: 'VALUE',
    noun: 'Value out of range',
    is: 'has a value out of range',
    was: 'had a value out of range',
    again: 'within its range again',
    began: 'left its range',
    ended: 'returned to its range',
  },
  severity: 'warning',
  nodes: { kind: 'majority' },
  isThreshold: false,
  isOutage: false,
  canBeConfirmed: false,
  windowMs: () => 0,
  refuses: ({ type, values }) => (values === null ? `a check of the type ${type} has no performance data` : null),
  judge({ label, range }, { outcome, values }) {
    const found = values?.find((one) => one.label === label);
    const limits = parseThresholdRange(range);
    if (outcome.status === 'unknown' || limits === null) return unknownJudgement(outcome);
    if (found === undefined || found.value === null)
      return outcome.status === 'up'
        ? { status: 'unknown', reason: 'no_figure', message: `there is no value "${label}" in the performance data` }
        : unknownJudgement(outcome);
    if (!isAlerting(found.value, limits)) return { status: 'up', reason: 'in_range', message: null };
    return { status: 'down', reason: 'out_of_range', message: `${label} is ${found.value}${found.unit}` };
  },
  describe: ({ label, range }) => `${label} ${range.startsWith('@') ? 'inside' : 'outside'} ${range.replace(/^@/, '')}`,
});
