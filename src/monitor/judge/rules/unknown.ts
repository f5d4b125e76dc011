import { describeDuration } from '#kernel/units.ts';
import { Duration } from '#kernel/unit-schemas.ts';
import { defineRuleKind } from './kind.ts';

const seen = { status: 'up', reason: 'seen', message: null } as const;

/** The state of the target has been unknown for long: its nodes lack a right, an address family, a resolver, or are away. */
export const unknown = defineRuleKind({
  key: 'unknown',
  summary: 'For how long most nodes must have been unable to say whether the target is up or down.',
  Options: Duration({ min: '1m', max: '30d' }),
  wording: {
    word: 'UNKNOWN',
    noun: 'Unknown',
    is: 'cannot be judged',
    was: 'could not be judged',
    again: 'seen again',
    began: 'could not be seen any more',
    ended: 'could be seen again',
  },
  severity: 'warning',
  nodes: { kind: 'majority' },
  isThreshold: false,
  isOutage: false,
  canBeConfirmed: false,
  isAboutNodes: true,
  holdMs: (ms) => ms,
  windowMs: () => 0,
  refuses: () => null,
  ofUp: seen,
  ofNone: { status: 'down', reason: 'no_node', message: 'there is no node to check it' },
  judge(_, { outcome }) {
    if (outcome.status !== 'unknown') return seen;
    const { code, message } = outcome.failure;
    // It sees the target, but is not believed: others say what they see.
    if (code === 'suspected') return { status: 'unknown', reason: code, message };
    return { status: 'down', reason: code, message };
  },
  describe: (ms) => `no verdict for ${describeDuration(ms)}`,
});
