import { z } from 'zod';
import { describeDuration, Duration } from '#kernel/units.ts';
import { judgeEnd } from '../expiry.ts';
import { defineRuleKind } from './kind.ts';

const Options = z.strictObject({
  expires_within: Duration({ min: '1d', max: '365d' }).describe('How long before its end the registration is told of.'),
});

/** The registration of a domain ends soon. */
export const domain = defineRuleKind({
  key: 'domain',
  summary: 'The registration of the domain ends soon.',
  Options,
  wording: {
    word: 'DOMAIN',
    noun: 'Domain',
    is: 'has to be registered anew',
    was: 'had to be registered anew',
    again: 'registered for longer',
    began: 'came near the end of its registration',
    ended: 'was registered for longer',
  },
  severity: 'warning',
  nodes: { kind: 'any' },
  isThreshold: false,
  isOutage: false,
  canBeConfirmed: false,
  windowMs: () => 0,
  refuses: ({ type, facts }) =>
    facts.includes('domain_expires_at') ? null : `a check of the type ${type} does not see when a domain expires`,
  judge: ({ expires_within }, view) =>
    judgeEnd('the domain', view.outcome.facts.domain_expires_at, expires_within, view),
  describe: ({ expires_within }) => `domain expires within ${describeDuration(expires_within)}`,
});
