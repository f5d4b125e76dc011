import type { Outcome } from '../outcome.ts';
import { certificateLines } from '../certificate.ts';
import type { Detail } from './detail.ts';

/** The records, who gave them, and what went wrong beside them. */
export function lines({ detail }: Outcome<Detail>): readonly string[] {
  if (detail === null) return [];
  const { records, rcode, server, protocol, authoritative, authentic, truncated, problems, tls } = detail;
  const certificate = tls?.certificate ?? null;
  const answers = [
    rcode,
    server === null ? null : `from ${server}`,
    protocol === null ? null : `over ${protocol.toUpperCase()}`,
    authoritative === true ? 'authoritative' : null,
    authentic === undefined ? null : authentic ? 'validated by DNSSEC' : 'not validated by DNSSEC',
    truncated === true ? 'too long for a datagram' : null,
  ].filter((part) => part !== null);
  return [
    ...records.map(({ type, data, ttl }) => `${type.padEnd(12)} ${data}${ttl === null ? '' : `  (TTL ${ttl} s)`}`),
    ...(answers.length === 0 ? [] : [`answer       ${answers.join(', ')}`]),
    ...(tls === undefined ? [] : [`connection   ${tls.protocol}`]),
    ...(certificate === null ? [] : certificateLines(certificate)),
    ...problems.map((problem) => `problem      ${problem}`),
  ];
}
