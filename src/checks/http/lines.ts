import type { Outcome } from '../outcome.ts';
import { certificateLines } from '../certificate.ts';
import type { Detail } from './detail.ts';

/** Status, headers and body of the answer, the way to it, and the server's certificate. */
export function lines({ detail }: Outcome<Detail>): readonly string[] {
  if (detail === null) return [];
  const { status, reason, version, hops, headers, certificate, failed_expectation } = detail;
  const spoken = version === null ? '' : `, HTTP/${version}`;
  return [
    ...hops.map((hop) => `${hop.status}          ${hop.url}`),
    ...(status === null ? [] : [`status       ${status} ${reason}${spoken}`]),
    ...(failed_expectation === null ? [] : [`unmet        expect.${failed_expectation}`]),
    ...Object.entries(headers).map(([name, value]) => `${name.padEnd(12)} ${value}`),
    ...bodyLines(detail),
    ...(certificate === null ? [] : certificateLines(certificate)),
  ];
}

function bodyLines({ body_bytes, body_complete }: Detail): readonly string[] {
  if (body_bytes === null) return [];
  return [`body         ${body_bytes} bytes${body_complete === false ? ', not read to its end' : ''}`];
}
