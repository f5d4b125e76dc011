import { z } from 'zod';
import { Certificate } from '../certificate.ts';

/** What a tcp check found besides the handshake's time. */
export const Detail = z.strictObject({
  /** Who took the time of the handshake; null where a row did not tell. */
  timed_by: z.enum(['kernel', 'clock']).nullable(),
  /** The handshake as our own clock saw it. */
  clock_seconds: z.number().min(0).nullable(),
  /** The beginning of what came back, one line of at most 200 characters; null where nothing was read. */
  answer: z.string().max(200).nullable(),
  tls: z
    .strictObject({
      protocol: z.string().max(20),
      cipher: z.string().max(100),
      certificate: Certificate.nullable(),
    })
    .nullable(),
});
export type Detail = z.output<typeof Detail>;
