import type { Outcome } from '../outcome.ts';
import { tlsLines } from '../stream/tls.ts';
import type { Detail } from './detail.ts';

/** The protocol, its cipher, and the certificate. */
export function lines({ detail }: Outcome<Detail>): readonly string[] {
  return tlsLines(detail?.tls ?? null);
}
