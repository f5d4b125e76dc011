import { isIP, isIPv4, isIPv6 } from 'node:net';
import { z } from 'zod';

// The interface's shapes written a second time, from its text alone and to the letter: no key and no element more.

const seconds = z.number().min(0);
const address = z.string().refine((text) => isIP(text) !== 0);

/** 2.1 */
export const nodeId = z.string().regex(/^[a-z]{2}\d+\.node\.[a-z0-9.-]+$/);

const place = [z.string().regex(/^(?:[a-z]{2})?$/), z.string(), z.string()] as const;
const asn = z.string().regex(/^(?:AS\d+)?$/);

/** 2.3 */
export const nodeDescriptor = z.tuple([...place, z.string(), asn]);

/** 2.2 */
export const checkRequest = z.strictObject({
  ok: z.literal(1),
  request_id: z.string().regex(/^[0-9A-Za-z]{17,}$/),
  permanent_link: z.url(),
  nodes: z.record(nodeId, nodeDescriptor),
});

/** 2.4 and 4.4 */
export const nodeList = z.strictObject({
  nodes: z.record(nodeId, z.strictObject({ asn, ip: z.string(), location: z.tuple([...place]) })),
});

const nodeFault = z.tuple([z.null(), z.strictObject({ message: z.string() })]);
const pingAttempt = z.union([
  z.tuple([z.literal('OK'), seconds]),
  z.tuple([z.literal('OK'), seconds, address]),
  z.tuple([z.enum(['TIMEOUT', 'MALFORMED', 'DEST_UNREACH', 'ERROR']), seconds]),
]);

/** 2.7, by check type. */
export const rows = {
  ping: z.union([z.tuple([z.array(pingAttempt).min(1).max(4)]), z.tuple([z.tuple([z.null()])]), nodeFault]),
  http: z.union([
    z.tuple([
      z.tuple([
        z.union([z.literal(0), z.literal(1)]),
        seconds,
        z.string(),
        z
          .string()
          .regex(/^\d{3}$/)
          .nullable(),
        address.nullable(),
      ]),
    ]),
    nodeFault,
  ]),
  tcp: z.union([
    z.tuple([
      z.union([
        z.strictObject({ time: seconds, address }),
        z.strictObject({ error: z.string(), address: address.optional() }),
      ]),
    ]),
    nodeFault,
  ]),
  dns: z.union([
    z.tuple([
      z.strictObject({
        A: z.array(z.string().refine((text) => isIPv4(text))),
        AAAA: z.array(z.string().refine((text) => isIPv6(text))),
        TTL: z.int().min(0).nullable(),
        PTR: z.array(z.string()).optional(),
      }),
    ]),
    nodeFault,
  ]),
  udp: z.union([
    z.tuple([
      z.union([
        z.strictObject({ address, time: seconds, timeout: z.literal(0) }),
        z.strictObject({ address, timeout: z.literal(1) }),
        z.strictObject({ error: z.string(), address: address.optional() }),
      ]),
    ]),
    nodeFault,
  ]),
};

/** 2.5 */
export const resultOf = (type: keyof typeof rows) => z.record(nodeId, rows[type].nullable());

/** 2.6, with the port that decisions record for tcp and udp. */
export const extendedOf = (type: keyof typeof rows) =>
  z.strictObject({
    command: z.literal(type),
    created: z.int().min(1_000_000_000).max(99_999_999_999),
    host: z.string(),
    ...(type === 'tcp' || type === 'udp' ? { port: z.string().regex(/^\d+$/) } : {}),
    results: resultOf(type),
  });
