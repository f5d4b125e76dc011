import { z } from 'zod';
import { describeDuration, Duration } from '#kernel/units.ts';
import { judgeEnd } from '../expiry.ts';
import { defineRuleKind } from './kind.ts';

const Options = z.strictObject({
  expires_within: Duration({ min: '1h', max: '365d' }).describe('How long before its end the certificate is told of.'),
});

/** The certificate ends soon. */
export const certificate = defineRuleKind({
  key: 'certificate',
  summary: 'The certificate of the target ends soon.',
  Options,
  wording: {
    word: 'CERTIFICATE',
    noun: 'Certificate',
    is: 'needs a new certificate',
    was: 'needed a new certificate',
    again: 'under a new certificate',
    began: 'came near its end',
    ended: 'had a new one',
  },
  severity: 'warning',
  nodes: { kind: 'any' },
  isThreshold: false,
  isOutage: false,
  canBeConfirmed: false,
  windowMs: () => 0,
  refuses: ({ type, facts }) =>
    facts.includes('certificate_expires_at') ? null : `a check of the type ${type} sees no certificate`,
  judge: ({ expires_within }, view) =>
    judgeEnd('the certificate', view.outcome.facts.certificate_expires_at, expires_within, view),
  describe: ({ expires_within }) => `certificate ends within ${describeDuration(expires_within)}`,
});
