import { z } from 'zod';
import { StreamDetail } from '../stream/tls-schemas.ts';

/** What a tcp check found besides the handshake's time. */
export const Detail = StreamDetail.extend({
  /** Who took the time of the handshake; null if a row did not tell. */
  timed_by: z.enum(['kernel', 'clock']).nullable(),
  /** The handshake as our own clock saw it. */
  clock_seconds: z.number().min(0).nullable(),
});
export type Detail = z.output<typeof Detail>;
