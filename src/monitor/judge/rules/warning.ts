import { Threshold } from '../verdict.ts';
import { defineRuleKind, unknownJudgement } from './kind.ts';

const warningState = 1;

/** The plugin that checks the target says WARNING. */
export const warning = defineRuleKind({
  key: 'warning',
  summary: 'On how many of the nodes the plugin must say WARNING.',
  Options: Threshold,
  wording: {
    word: 'WARNING',
    noun: 'Warning',
    is: 'is in state WARNING',
    was: 'was in state WARNING',
    again: 'without warnings again',
    began: 'began to warn',
    ended: 'stopped warning',
  },
  severity: 'warning',
  nodes: { kind: 'majority' },
  isThreshold: true,
  isOutage: false,
  canBeConfirmed: true,
  windowMs: () => 0,
  refuses: ({ type, facts }) =>
    facts.includes('plugin_state') ? null : `a check of the type ${type} has no state WARNING`,
  judge(_, { outcome }) {
    const state = outcome.facts.plugin_state;
    // A target that is down does more than warn.
    if (state === undefined || outcome.status !== 'up') return unknownJudgement(outcome);
    if (state !== warningState) return { status: 'up', reason: 'ok', message: null };
    return { status: 'down', reason: 'warning', message: textOf(outcome.detail) };
  },
  describe: () => 'WARNING',
});

function textOf(detail: unknown): string {
  const text = typeof detail === 'object' && detail !== null && 'text' in detail ? detail.text : null;
  return typeof text === 'string' && text !== '' ? text : 'the plugin says WARNING';
}
