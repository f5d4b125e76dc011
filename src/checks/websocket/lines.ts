import type { Outcome } from '../outcome.ts';
import { tlsLines } from '../stream/tls.ts';
import type { Detail } from './detail.ts';

/** The subprotocol, the TLS connection and its certificate, and the beginning of the message. */
export function lines({ detail }: Outcome<Detail>): readonly string[] {
  if (detail === null) return [];
  const { protocol, tls, answer } = detail;
  return [
    ...(protocol === null ? [] : [`protocol     ${protocol}`]),
    ...tlsLines(tls),
    ...(answer === null ? [] : [`message      ${answer}`]),
  ];
}
