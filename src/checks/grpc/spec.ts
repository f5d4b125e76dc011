import { z } from 'zod';
import { Duration } from '#kernel/unit-schemas.ts';
import { formatHostPort, portOf } from '../endpoint.ts';
import { Host } from '../host-schema.ts';
import { Tls } from '../stream/tls-schemas.ts';

export const Spec = z.strictObject({
  type: z.literal('grpc'),
  host: Host((endpoint) => formatHostPort(endpoint.name, portOf(endpoint))).describe(
    'Name or address with a port: "api.example.com:50051". Default port: by scheme, or 80.',
  ),
  timeout: Duration({ min: '100ms', max: '60s' })
    .default(5_000)
    .describe('For everything together: name, connection, TLS, answer.'),
  family: z.literal([4, 6]).optional().describe('IPv4 or IPv6 only. Default: IPv4 if the name has it, else IPv6.'),
  health_of: z
    .string()
    .max(200)
    .regex(/^[\w.]*$/, { error: 'expected the name of a service, such as "shop.Orders"' })
    .default('')
    .describe('The service whose health is asked for. Default: the server as a whole.'),
  tls: z.union([z.boolean(), Tls]).default(false).describe('Whether to start TLS, and how.'),
});
export type Spec = z.output<typeof Spec>;
