import { z } from 'zod';
import { Certificate } from '../certificate-schema.ts';
import { keptHeaders } from './kept-headers.ts';

const Text = z.string().max(200);

/** A request that was answered with a redirect that was followed. */
const Hop = z.strictObject({ url: Text, status: z.int().min(100).max(999) });

/** What an http check found besides times and addresses. */
export const Detail = z.strictObject({
  /** Status code of the last answer, or null if none came. */
  status: z.int().min(100).max(999).nullable(),
  /** Reason phrase as it was sent, or the registered one if none was sent (RFC 9110, section 15). */
  reason: Text,
  /** HTTP version of the last answer. */
  version: z.enum(['1.0', '1.1', '2']).nullable(),
  /** Redirects that were followed before the last answer, in order. */
  hops: z.array(Hop).max(5),
  /** Bytes of the body that were read: as sent, or decompressed if an expectation examines them. */
  body_bytes: z.int().min(0).nullable(),
  /** False where reading stopped before the body's end. */
  body_complete: z.boolean().nullable(),
  headers: z.partialRecord(z.enum(keptHeaders), Text),
  /** What the last TLS server presented. */
  certificate: Certificate.nullable(),
  /** The version of TLS that the last connection spoke: `TLSv1.3`. */
  tls_protocol: z.string().max(20).nullable().default(null),
  /** Whether the kernel or our own clock timed the last connection. */
  timed_by: z.enum(['kernel', 'clock']).nullable(),
  /** Which part of `expect` the answer failed. */
  failed_expectation: z.enum(['status', 'headers', 'body', 'latency', 'certificate']).nullable(),
});
export type Detail = z.output<typeof Detail>;
