import { Threshold } from '../verdict.ts';
import { defineRuleKind } from './kind.ts';

const seenUp = { status: 'up', reason: 'up', message: null } as const;

/** The target does not do what its check asks of it. */
export const failing = defineRuleKind({
  key: 'failing',
  summary: 'How many of the nodes must see the target down.',
  Options: Threshold,
  wording: {
    word: 'DOWN',
    noun: 'Down',
    is: 'is down',
    was: 'was down',
    again: 'up again',
    began: 'went down',
    ended: 'came back',
  },
  severity: 'critical',
  nodes: { kind: 'majority' },
  isThreshold: true,
  isOutage: true,
  canBeConfirmed: true,
  windowMs: () => 0,
  refuses: () => null,
  ofUp: seenUp,
  judge: (_, { outcome }) =>
    outcome.status === 'up'
      ? seenUp
      : { status: outcome.status, reason: outcome.failure.code, message: outcome.failure.message },
  describe: () => 'failing',
});
