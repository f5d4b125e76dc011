import { z } from 'zod';
import { type BurnState, burningOf, describeLeft, describeObjective } from '#history/budget.ts';
import { describeDuration } from '#kernel/units.ts';
import { defineRuleKind } from './kind.ts';

const paces = ['fast', 'slow', 'any'] as const;
const hint = 'expected fast, slow or any: how fast the budget of the objective is spent';

const words = {
  fast: 'error budget spent fast',
  slow: 'error budget spent slowly, but too fast to last',
  any: 'error budget spent too fast to last',
} as const;

/** The target is down for so much of the time that its objective is at risk, however short each outage is. */
export const budget = defineRuleKind({
  key: 'budget',
  summary:
    'The error budget of the objective is spent too fast: fast (over minutes and hours), slow (over days), or any of both.',
  Options: z.enum(paces, { error: hint }),
  wording: {
    word: 'BUDGET',
    noun: 'Overspent',
    is: 'spends its error budget too fast',
    was: 'spent its error budget too fast',
    again: 'within its error budget again',
    began: 'began to spend too fast',
    ended: 'was within its budget again',
  },
  severity: 'warning',
  nodes: { kind: 'any' },
  isThreshold: false,
  isOutage: false,
  canBeConfirmed: false,
  isAboutTarget: true,
  windowMs: () => 0,
  refuses: () => null,
  judge(pace, { budget: now }) {
    if (now === null) return { status: 'unknown', reason: 'no_objective', message: 'there is no objective' };
    const burning = burningOf(now.budget, now.downWithin).find((one) => pace === 'any' || one.pace === pace);
    if (burning === undefined) return { status: 'up', reason: 'lasts', message: null };
    const left = `${describeLeft(now.budget.left)} of the budget of ${describeObjective(now.budget)} is left`;
    return { status: 'down', reason: burning.pace, message: `${inWords(burning)}; ${left}` };
  },
  describe: (pace) => words[pace],
});

function inWords({ speed, longMs, downMs }: BurnState): string {
  return `burn rate ${Number(speed.toPrecision(3))}: down for ${describeDuration(downMs)} of ${describeDuration(longMs)}`;
}
