import { z } from 'zod';
import { isIP } from 'node:net';
import { Duration } from '#kernel/units.ts';
import { Host } from '../endpoint.ts';
import { PathProtocol } from './path-trace.ts';
import { mostWaits } from './large.ts';
import { longestSendingMs, singleTotalMs } from './rounds.ts';
import { unusedPort } from './trace.ts';

/** How long resolving the name may take, on top of the probes. */
export const nameTimeoutMs = 5_000;
/** How long the names of hops may take. */
export const hopNamesMs = 2_000;

/** The options that `traceroute` and `mtr` share. */
export const pathOptions = {
  host: Host(({ name }) => name).describe('A host name or address; a scheme, port and path are left out.'),
  protocol: PathProtocol.default('icmp').describe(
    'What is sent: "icmp" echo requests, "udp" datagrams, or "tcp" handshakes.',
  ),
  port: z
    .int()
    .min(1)
    .max(65_535)
    .optional()
    .describe(`Destination port of "tcp" and "udp". Default: 80 for "tcp", ${unusedPort} for "udp".`),
  max_hops: z.int().min(1).max(64).default(30).describe('How far to go: the largest TTL or hop limit.'),
  timeout: Duration({ min: '100ms', max: '10s' }).default(1_000).describe('How long each packet waits for its answer.'),
  names: z
    .boolean()
    .default(false)
    .describe("Whether to look up the host names of hops, with the node's name servers."),
  family: z.literal([4, 6]).optional().describe('4 or 6. Default: IPv4 if the name has it, else IPv6.'),
};

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

/** A zod check for both types. */
export function refusePort({ protocol, port }: Pick<PathSpec, 'protocol' | 'port'>, context: z.RefinementCtx): void {
  if (protocol !== 'icmp' || port === undefined) return;
  context.addIssue({ code: 'custom', path: ['port'], message: 'ICMP has no ports: set "protocol: tcp" or "udp"' });
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
