import type { Outcome } from '../outcome.ts';
import { certificateLines } from '../tls-connection.ts';
import type { Detail } from './detail.ts';

/** The protocol, its cipher, and the certificate. */
export function lines({ detail }: Outcome<Detail>): readonly string[] {
  if (detail === null || detail.tls === null) return [];
  const { protocol, cipher, certificate } = detail.tls;
  return [`${protocol}, ${cipher}`, ...(certificate === null ? [] : certificateLines(certificate))];
}
