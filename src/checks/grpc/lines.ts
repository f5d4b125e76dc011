import type { Outcome } from '../outcome.ts';
import { tlsLines } from '../stream/tls.ts';
import type { Detail } from './detail.ts';

/** The reported health, the TLS connection and its certificate. */
export function lines({ detail }: Outcome<Detail>): readonly string[] {
  if (detail === null) return [];
  const { health, tls } = detail;
  return [...(health === null ? [] : [`health       ${health}`]), ...tlsLines(tls)];
}
