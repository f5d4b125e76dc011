import { formatDuration } from '#kernel/units.ts';
import { type Failure, failure } from './outcome.ts';
import type { Certificate } from './certificate-schema.ts';

export type { Certificate } from './certificate-schema.ts';

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
