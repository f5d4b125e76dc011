import { z } from 'zod';

const Address = z.string().max(64);

/** What came back for one probe of a hop. */
const HopProbe = z.strictObject({
  address: Address.nullable(),
  name: z.string().max(253).nullable().optional(),
  seconds: z.number().min(0).nullable(),
  kind: z.enum([
    'reply',
    'time_exceeded',
    'unreachable',
    'prohibited',
    'port_unreachable',
    'too_big',
    'refused',
    'connected',
    'none',
  ]),
  mtu: z.int().min(0).optional(),
});

const PathHop = z.strictObject({
  hop: z.int().min(1).max(255),
  probes: z.array(HopProbe).max(10),
  as: z
    .strictObject({ number: z.int().min(0), name: z.string().max(100) })
    .nullable()
    .optional(),
});
export type PathHop = z.output<typeof PathHop>;

/** The routers on the way to an address, as probes with a growing TTL find them. */
export const PathTrace = z.strictObject({
  protocol: z.enum(['udp', 'icmp', 'tcp']),
  port: z.int().min(1).max(65_535).nullable(),
  /** The destination. */
  address: Address,
  family: z.literal([4, 6]),
  hops: z.array(PathHop).max(64),
  end: z.enum(['reached', 'rejected', 'loop', 'silent', 'limit', 'error']),
  /** The smallest on the way, in bytes, if it was measured. */
  mtu: z.int().min(0).nullable(),
});
export type PathTrace = z.output<typeof PathTrace>;
