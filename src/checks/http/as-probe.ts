import { phaseFindings, type ProbeFinding, tlsFindings } from '../as-probe.ts';
import type { Outcome } from '../outcome.ts';
import type { Detail } from './detail.ts';
import { nothingFound } from './nothing-found.ts';

/** What blackbox_exporter's http prober would say. */
export function asProbe({ phases, detail }: Outcome<Detail>): readonly ProbeFinding[] {
  const { status, version, hops, body_bytes, certificate, tls_protocol, failed_expectation } = detail ?? nothingFound;
  const { resolve, connect, tls, first_byte: processing, transfer } = phases;
  return [
    ...phaseFindings('probe_http_duration_seconds', { resolve, connect, tls, processing, transfer }),
    { name: 'probe_http_status_code', value: status ?? 0 },
    { name: 'probe_http_version', value: Number(version ?? 0) },
    { name: 'probe_http_redirects', value: hops.length },
    { name: 'probe_http_ssl', value: certificate === null ? 0 : 1 },
    { name: 'probe_http_content_length', value: body_bytes ?? 0 },
    { name: 'probe_http_uncompressed_body_length', value: body_bytes ?? 0 },
    { name: 'probe_failed_due_to_regex', value: failed_expectation === 'body' ? 1 : 0 },
    ...tlsFindings(tls_protocol),
  ];
}
