import { z } from 'zod';
import { Duration } from '#kernel/units.ts';
import { formatHostPort, Host, portOf } from '../endpoint.ts';
import { Expectation, Payload } from '../payload.ts';

const Tls = z.strictObject({
  server_name: z
    .string()
    .min(1)
    .max(253)
    .optional()
    .describe('The name to ask for and to find in the certificate. Default: the host.'),
  ca: z.string().max(100_000).optional().describe('PEM certificates to trust instead of the well-known authorities.'),
  min_version: z.enum(['TLSv1.2', 'TLSv1.3']).optional().describe('The oldest version to accept. Default: TLSv1.2.'),
  verify: z.boolean().default(true).describe('Whether a bad certificate makes the target down.'),
});

export const Spec = z.strictObject({
  type: z.literal('tcp'),
  host: Host((endpoint) => formatHostPort(endpoint.name, portOf(endpoint))).describe(
    'Name or address with a port: "example.com:22", "[2001:db8::1]:22", "ssh://example.com". Default port: by scheme, or 80.',
  ),
  timeout: Duration({ min: '100ms', max: '60s' })
    .default(5_000)
    .describe('For everything together: name, connection, TLS, answer.'),
  family: z.literal([4, 6]).optional().describe('IPv4 or IPv6 only. Default: IPv4 where the name has it, else IPv6.'),
  tls: z.union([z.boolean(), Tls]).default(false).describe('Whether to start TLS, and how.'),
  send: Payload.optional().describe(
    'What to send once connected: text with escapes such as \\r\\n, { hex } or { base64 }.',
  ),
  expect: Expectation.optional().describe('What the answer must contain: text, { regex } or { hex }.'),
});
export type Spec = z.output<typeof Spec>;
