import { formatDuration } from '#kernel/units.ts';
import type { Certificate } from './certificate.ts';
import { type Failure, failure } from './outcome.ts';
import { expiresAt } from './tls-connection.ts';

/** Where a certificate is valid for less than so many milliseconds from `now`; null where it is valid for longer. */
export function shortLife(certificate: Certificate, leastMs: number, now: number): Failure | null {
  if (expiresAt(certificate) * 1_000 - now >= leastMs) return null;
  const message = `the certificate expires on ${certificate.valid_to}, in less than ${formatDuration(leastMs)}`;
  return failure('target', 'certificate_expires_soon', message);
}
