import { isIP } from 'node:net';
import type { PathProtocol } from './path-trace.ts';
import { mostWaits } from './large.ts';
import { longestSendingMs, singleTotalMs } from './rounds.ts';
import { unusedPort } from './trace.ts';

/** How long resolving the name may take, on top of the probes. */
export const nameTimeoutMs = 5_000;
/** How long the names of hops may take. */
export const hopNamesMs = 2_000;

/** What `traceroute` and `mtr` have in common. */
export interface PathSpec {
  readonly host: string;
  readonly protocol: PathProtocol;
  readonly port?: number | undefined;
  readonly max_hops: number;
  readonly timeout: number;
  readonly names: boolean;
  readonly family?: 4 | 6 | undefined;
}

/** The port that a spec asks for; null for ICMP. */
export function portOfPath({ protocol, port }: Pick<PathSpec, 'protocol' | 'port'>): number | null {
  if (protocol === 'icmp') return null;
  return port ?? (protocol === 'tcp' ? 80 : unusedPort);
}

/** The longest that a measurement may take: the name, sending, the waits, and the names of hops. */
export function pathDeadlineMs(spec: PathSpec, rounds: number, roundMs: number): number {
  const sendingMs = rounds * Math.max(roundMs, longestSendingMs(spec.protocol, spec.max_hops));
  const againMs = spec.protocol === 'udp' ? singleTotalMs : 0;
  const measuringMs = Math.max(sendingMs + spec.timeout + againMs, (mostWaits + 2) * spec.timeout);
  return (isIP(spec.host) === 0 ? nameTimeoutMs : 0) + measuringMs + (spec.names ? hopNamesMs : 0);
}
