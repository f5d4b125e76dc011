import type { Outcome } from '../outcome.ts';
import { certificateLines } from '../tls-connection.ts';
import type { Detail } from './detail.ts';

/** The TLS connection, its certificate, and the beginning of the answer. */
export function lines({ detail }: Outcome<Detail>): readonly string[] {
  if (detail === null) return [];
  const { answer, tls, timed_by } = detail;
  return [
    ...(timed_by === 'clock' ? ["timed by this program's clock, not by the kernel"] : []),
    ...(tls === null ? [] : [`${tls.protocol}, ${tls.cipher}`]),
    ...(tls === null || tls.certificate === null ? [] : certificateLines(tls.certificate)),
    ...(answer === null ? [] : [`answer       ${answer}`]),
  ];
}
