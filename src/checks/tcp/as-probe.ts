import { type ProbeFinding, tlsFindings } from '../as-probe.ts';
import type { Outcome } from '../outcome.ts';
import type { Detail } from './detail.ts';

/** What blackbox_exporter's tcp prober would say. */
export function asProbe(outcome: Outcome<Detail>): readonly ProbeFinding[] {
  const unexpected = outcome.status === 'down' && outcome.failure.code === 'answer';
  return [
    { name: 'probe_failed_due_to_regex', value: unexpected ? 1 : 0 },
    ...tlsFindings(outcome.detail?.tls?.protocol ?? null),
  ];
}
