import { type ProbeFinding, tlsFindings } from '../as-probe.ts';
import type { Outcome } from '../outcome.ts';
import type { Detail } from './detail.ts';

const switched = 101;

/** What blackbox_exporter's http prober says of a WebSocket, which it opens by an upgrade. */
export function asProbe(outcome: Outcome<Detail>): readonly ProbeFinding[] {
  const { status, detail } = outcome;
  const unexpected = status === 'down' && outcome.failure.code === 'answer';
  const isOpen = status === 'up' || unexpected;
  return [
    { name: 'probe_http_status_code', value: detail?.status ?? (isOpen ? switched : 0) },
    { name: 'probe_http_ssl', value: (detail?.tls ?? null) === null ? 0 : 1 },
    { name: 'probe_failed_due_to_regex', value: unexpected ? 1 : 0 },
    ...tlsFindings(detail?.tls?.protocol ?? null),
  ];
}
