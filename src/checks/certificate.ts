import { z } from 'zod';
import { formatDuration } from '#kernel/units.ts';
import { type Failure, failure } from './outcome.ts';

const Text = z.string().max(300);

/** What a server's certificate says. Texts are the server's own, made one line and cut. */
export const Certificate = z.strictObject({
  subject: Text,
  issuer: Text,
  /** Names and addresses it is for, at most 100. */
  names: z.array(Text).max(100),
  valid_from: z.iso.datetime(),
  valid_to: z.iso.datetime(),
  /** SHA-256, hexadecimal with colons. */
  fingerprint: Text,
  /** The certificates above it as far as the server or our store gave them, at most 10. */
  chain: z.array(z.strictObject({ subject: Text, issuer: Text, valid_to: z.iso.datetime() })).max(10),
});
export type Certificate = z.output<typeof Certificate>;

/** When a certificate ends, in seconds since the epoch: the fact `certificate_expires_at`. */
export function expiresAt(certificate: Certificate): number {
  return Date.parse(certificate.valid_to) / 1_000;
}

/** Where a certificate is valid for less than so many milliseconds from `now`; null where it is valid for longer. */
export function remainingLifeFailure(certificate: Certificate, leastMs: number, now: number): Failure | null {
  if (expiresAt(certificate) * 1_000 - now >= leastMs) return null;
  const message = `the certificate expires on ${certificate.valid_to}, in less than ${formatDuration(leastMs)}`;
  return failure('target', 'certificate_expires_soon', message);
}

/** A certificate for people. */
export function certificateLines({ subject, issuer, names, valid_from, valid_to }: Certificate): readonly string[] {
  const more = names.length > mostNames ? ` and ${names.length - mostNames} more` : '';
  return [
    `certificate  ${subject || 'without a subject'}`,
    ...(names.length === 0 ? [] : [`  for        ${names.slice(0, mostNames).join(', ')}${more}`]),
    `  issued by  ${issuer}${issuer === subject ? ' (itself)' : ''}`,
    `  valid      ${valid_from.slice(0, 10)} to ${valid_to.slice(0, 10)}`,
  ];
}

const mostNames = 5;
