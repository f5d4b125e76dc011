import { z } from 'zod';

/** How a path is measured: the protocol of its probes. */
export const PathProtocol = z.enum(['udp', 'icmp', 'tcp']);
export type PathProtocol = z.infer<typeof PathProtocol>;

/**
 * What came back for a probe: an answer of the destination (`reply` to an echo or datagram, `connected`, `refused`, and
 * `port_unreachable` for UDP), an ICMP error of a router, or nothing within the wait.
 */
export const ProbeKind = z.enum([
  'reply',
  'time_exceeded',
  'unreachable',
  'prohibited',
  'port_unreachable',
  'too_big',
  'refused',
  'connected',
  'none',
]);
export type ProbeKind = z.infer<typeof ProbeKind>;

export const PathProbe = z.strictObject({
  /** The sender of the answer; null for `none`. */
  address: z.string().max(64).nullable(),
  /** Its host name, if names were asked for and it has one. */
  name: z.string().max(255).nullable().optional(),
  /** The round trip; null for `none`, and if an answer does not state its probe. */
  seconds: z.number().min(0).max(1e6).nullable(),
  kind: ProbeKind,
  /** For `too_big`: the size in bytes that the next link takes. */
  mtu: z.int().min(0).max(65_535).optional(),
});
export type PathProbe = z.infer<typeof PathProbe>;

/** An autonomous system, as the file of AS names has it. */
export const AutonomousSystem = z.strictObject({
  number: z
    .int()
    .min(0)
    .max(2 ** 32 - 1),
  name: z.string().max(200),
});
export type AutonomousSystem = z.infer<typeof AutonomousSystem>;

export const PathHop = z.strictObject({
  /** TTL or hop limit of its probes. */
  hop: z.int().min(1).max(64),
  /** In the order they were sent. */
  probes: z.array(PathProbe).min(1).max(16),
  /** The network of its first address; null if the file has none, absent without a file. */
  as: AutonomousSystem.nullable().optional(),
});
export type PathHop = z.infer<typeof PathHop>;

/**
 * How a path ends: the destination answered; a router or the destination refused the probe; an address came again after another;
 * silence after the last hop; all hops answered without the destination; probes could not be sent. `measuring`: not yet, in interim results.
 */
export const PathEnd = z.enum(['reached', 'rejected', 'loop', 'silent', 'limit', 'error', 'measuring']);
export type PathEnd = z.infer<typeof PathEnd>;

/** Whether packets of 1,500 bytes that must not be split get through while small ones do. */
export const LargePackets = z.strictObject({
  result: z.enum(['passed', 'too_big', 'lost']),
  /** For `lost`: the last hop that answered to a large packet; null if none did. */
  last_hop: z.int().min(1).max(64).nullable(),
});
export type LargePackets = z.infer<typeof LargePackets>;

/** The path from a node to an address. */
export const PathTrace = z.strictObject({
  protocol: PathProtocol,
  /** Destination port; null for ICMP. */
  port: z.int().min(1).max(65_535).nullable(),
  /** The destination. */
  address: z.string().max(64),
  family: z.literal([4, 6]),
  /** From hop 1 to the end; of silent hops at the end only the first. */
  hops: z.array(PathHop).max(64),
  end: PathEnd,
  /** The smallest that routers on the path stated, or 1500 if such a packet got through; null if it was not measured. */
  mtu: z.int().min(0).max(65_535).nullable(),
  /** Absent if it was not measured, or the destination does not answer echo requests. */
  large: LargePackets.optional(),
  /** For the end `error`: why. */
  error: z.string().max(200).optional(),
});
export type PathTrace = z.infer<typeof PathTrace>;
