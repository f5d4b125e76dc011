import { z } from 'zod';
import { Duration, Size } from '#kernel/unit-schemas.ts';
import { Host } from '../host-schema.ts';
import { refuseFamiliesOfAddress } from '../family-schema.ts';

const dscpNames = [
  ...(['cs0', 'cs1', 'cs2', 'cs3', 'cs4', 'cs5', 'cs6', 'cs7'] as const),
  ...(['af11', 'af12', 'af13', 'af21', 'af22', 'af23'] as const),
  ...(['af31', 'af32', 'af33', 'af41', 'af42', 'af43', 'ef'] as const),
] as const;

export const Spec = z
  .strictObject({
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
    dont_fragment: z
      .literal(true)
      .optional()
      .describe('Whether routers must not split the request: then a way that does not take its size shows.'),
    ttl: z.int().min(1).max(255).optional().describe('TTL or hop limit of the request. Default: that of the system.'),
    dscp: z
      .union([z.int().min(0).max(63), z.enum(dscpNames)], {
        error: 'expected 0 to 63, or a name such as "ef" or "af41"',
      })
      .optional()
      .describe('Class of service (RFC 2474): 0 to 63, or "ef", "af11" to "af43", "cs0" to "cs7".'),
    family: z
      .literal([4, 6, 'both'])
      .optional()
      .describe('IPv4 or IPv6 only; "both": each must work. Default: IPv4 if the name has it, else IPv6.'),
  })
  .superRefine(refuseFamiliesOfAddress);
export type Spec = z.output<typeof Spec>;
