import type { Outcome } from '../outcome.ts';
import { tlsLines } from '../stream/tls.ts';
import type { Detail } from './detail.ts';

/** The TLS connection, its certificate, and the beginning of the answer. */
export function lines({ detail }: Outcome<Detail>): readonly string[] {
  if (detail === null) return [];
  const { answer, tls, timed_by } = detail;
  return [
    ...(timed_by === 'clock' ? ["timed by this program's clock, not by the kernel"] : []),
    ...tlsLines(tls),
    ...(answer === null ? [] : [`answer       ${answer}`]),
  ];
}
