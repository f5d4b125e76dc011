import { phaseFindings, type ProbeFinding } from '../as-probe.ts';
import type { Outcome } from '../outcome.ts';
import type { Detail } from './detail.ts';

/** What blackbox_exporter's icmp prober would say, which sends one request: here the mean of all, and the first reply. */
export function asProbe({ phases, facts, detail }: Outcome<Detail>): readonly ProbeFinding[] {
  const { resolve } = phases;
  const ttl = detail?.attempts.find((attempt) => attempt.ttl !== null)?.ttl ?? null;
  return [
    ...phaseFindings('probe_icmp_duration_seconds', { resolve, setup: 0, rtt: facts.rtt_mean }),
    ...(ttl === null ? [] : [{ name: 'probe_icmp_reply_hop_limit', value: ttl } as const]),
  ];
}
