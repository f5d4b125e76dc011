import { z } from 'zod';
import { Duration } from '#kernel/unit-schemas.ts';
import { Host } from '../host-schema.ts';
import { PathProtocol } from './path-trace.ts';
import { unusedPort } from './trace.ts';
import type { PathSpec } from './options.ts';

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

/** A zod check for both types. */
export function refusePort({ protocol, port }: Pick<PathSpec, 'protocol' | 'port'>, context: z.RefinementCtx): void {
  if (protocol !== 'icmp' || port === undefined) return;
  context.addIssue({ code: 'custom', path: ['port'], message: 'ICMP has no ports: set "protocol: tcp" or "udp"' });
}
