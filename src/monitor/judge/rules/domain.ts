import { defineEndRule } from '../expiry.ts';

/** The registration of a domain ends soon. */
export const domain = defineEndRule({
  key: 'domain',
  summary: 'The registration of the domain ends soon.',
  wording: {
    word: 'DOMAIN',
    noun: 'Domain',
    is: 'has to be renewed',
    was: 'had to be renewed',
    again: 'registered for longer',
    began: 'came near the end of its registration',
    ended: 'was registered for longer',
  },
  fact: 'domain_expires_at',
  lack: 'does not see when a domain expires',
  ends: 'domain expires',
  within: { min: '1d', hint: 'How long before its expiry the registration is notified.' },
});
