import { isIP } from 'node:net';
import { z } from 'zod';
import { Duration, Size } from '#kernel/units.ts';
import { Host } from '../endpoint.ts';

/** How long resolving the name may take, on top of the echoes. */
export const nameTimeoutMs = 5_000;

export const Spec = z.strictObject({
  type: z.literal('ping'),
  host: Host(({ name }) => name).describe('A host name or address; a scheme, port and path are left out.'),
  count: z.int().min(1).max(20).default(4).describe('How many echo requests are sent.'),
  interval: Duration({ min: '10ms', max: '10s' })
    .default(500)
    .describe('From one echo request to the next, whether it is answered by then or not.'),
  timeout: Duration({ min: '100ms', max: '60s' })
    .default(3_000)
    .describe('How long each echo request waits for its reply.'),
  size: Size({ min: 8, max: 1_472 })
    .default(56)
    .describe('Payload of an echo request. 1472B fills an Ethernet frame over IPv4.'),
  family: z.literal([4, 6]).optional().describe('4 or 6. Default: IPv4 where the name has it, IPv6 otherwise.'),
});
export type Spec = z.output<typeof Spec>;

/** Name resolution where there is a name, the last request's turn, and its wait. */
export function deadlineMs({ host, count, interval, timeout }: Spec): number {
  return (isIP(host) === 0 ? nameTimeoutMs : 0) + (count - 1) * interval + timeout;
}
