import { z } from 'zod';
import { Certificate } from '../certificate-schema.ts';
import { mostRecords } from './record-types.ts';
import { Protocol } from './spec.ts';

const Texts = z.array(z.string().max(2_000)).max(mostRecords);
const Ttl = z
  .int()
  .min(0)
  .max(2 ** 31 - 1)
  .nullable();

/**
 * What name servers answered: the only place of an outcome that holds a target's records. What a row did not tell is null.
 */
export const Detail = z.strictObject({
  A: Texts,
  AAAA: Texts,
  /** Names of an address; null if none was asked for. */
  PTR: Texts.nullable(),
  /** Seconds that the answer may be kept: the smallest of its records. */
  TTL: Ttl,
  /** Every record that answers, aliases included, with data as a zone file writes it. */
  records: z
    .array(z.strictObject({ type: z.string().max(20), data: z.string().max(2_000), ttl: Ttl }))
    .max(mostRecords),
  rcode: z.string().max(20).nullable(),
  server: z.string().max(80).nullable(),
  protocol: Protocol.nullable(),
  /** What the name server presented, if it was asked over an encrypted connection. */
  tls: z.strictObject({ protocol: z.string().max(20), certificate: Certificate.nullable() }).optional(),
  /** Whether the answer was too long for a datagram and came over TCP. */
  truncated: z.boolean().nullable(),
  authoritative: z.boolean().nullable(),
  /** Whether the name server states that it has validated all answers by DNSSEC; only if that was expected. */
  authentic: z.boolean().optional(),
  /** Questions of this check that went wrong beside others that were answered. */
  problems: z.array(z.string().max(200)).max(2),
});
export type Detail = z.output<typeof Detail>;
