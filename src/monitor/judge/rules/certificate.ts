import { defineEndRule } from '../expiry.ts';

/** The certificate ends soon. */
export const certificate = defineEndRule({
  key: 'certificate',
  summary: 'The certificate of the target ends soon.',
  wording: {
    word: 'CERTIFICATE',
    noun: 'Certificate',
    is: 'needs a new certificate',
    was: 'needed a new certificate',
    again: 'under a new certificate',
    began: 'came near its end',
    ended: 'had a new one',
  },
  fact: 'certificate_expires_at',
  lack: 'sees no certificate',
  ends: 'certificate ends',
  within: { min: '1h', hint: 'How long before its expiry the certificate is notified.' },
});
