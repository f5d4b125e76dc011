import { phaseFindings, type ProbeFinding, tlsFindings } from '../as-probe.ts';
import type { Outcome } from '../outcome.ts';
import { type Detail, healths } from './detail.ts';

/** What blackbox_exporter's grpc prober would say; the status OK if the server reported its health. */
export function asProbe({ phases, seconds, detail }: Outcome<Detail>): readonly ProbeFinding[] {
  const { health = null, tls = null } = detail ?? {};
  const { resolve, connect = 0, tls: handshake = 0 } = phases;
  return [
    ...phaseFindings('probe_grpc_duration_seconds', { resolve, check: connect + handshake + (seconds ?? 0) }),
    { name: 'probe_grpc_ssl', value: tls === null ? 0 : 1 },
    ...healths.map((serving_status) => ({
      name: 'probe_grpc_healthcheck_response' as const,
      labels: { serving_status },
      value: serving_status === health ? 1 : 0,
    })),
    ...(health === null ? [] : [{ name: 'probe_grpc_status_code' as const, value: 0 }]),
    ...tlsFindings(tls?.protocol ?? null),
  ];
}
