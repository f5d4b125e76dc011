import { type ProbeFinding, tlsFindings } from '../as-probe.ts';
import type { Outcome } from '../outcome.ts';
import type { Detail } from './detail.ts';

/** What blackbox_exporter's tcp prober would say that speaks TLS. */
export function asProbe({ detail }: Outcome<Detail>): readonly ProbeFinding[] {
  return [{ name: 'probe_failed_due_to_regex', value: 0 }, ...tlsFindings(detail?.tls?.protocol ?? null)];
}
