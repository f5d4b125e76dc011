import { phaseFindings, type ProbeFinding } from '../as-probe.ts';
import type { Outcome } from '../outcome.ts';
import type { Detail } from './detail.ts';

/** What blackbox_exporter's dns prober would say. */
export function asProbe({ phases, seconds, detail }: Outcome<Detail>): readonly ProbeFinding[] {
  const { resolve } = phases;
  return [
    ...phaseFindings('probe_dns_duration_seconds', { resolve, connect: 0, request: seconds ?? 0 }),
    { name: 'probe_dns_answer_rrs', value: detail?.records.length ?? 0 },
    { name: 'probe_dns_query_succeeded', value: (detail?.rcode ?? null) === null ? 0 : 1 },
  ];
}
