import { z } from 'zod';
import { Certificate } from '../certificate-schema.ts';

/** The options of a TLS connection, whichever check type starts it. */
export const Tls = z.strictObject({
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
export type Tls = z.output<typeof Tls>;

/** A TLS connection as the check found it. */
export const TlsConnection = z.strictObject({
  protocol: z.string().max(20),
  cipher: z.string().max(100),
  certificate: Certificate.nullable(),
});
export type TlsConnection = z.output<typeof TlsConnection>;

/** What a conversation over one connection adds to the detail of its check. */
export const StreamDetail = z.strictObject({
  /** The beginning of what came back, one line of at most 200 characters; null if nothing was read. */
  answer: z.string().max(200).nullable(),
  tls: TlsConnection.nullable(),
});
export type StreamDetail = z.output<typeof StreamDetail>;
