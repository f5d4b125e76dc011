import { z } from 'zod';
import { StreamDetail } from '../stream/tls-schemas.ts';

/** What the handshake and the messages after it said; null if it did not come to that. */
export const Detail = StreamDetail.pick({ tls: true, answer: true }).extend({
  /** The HTTP status of an answer that refused. */
  status: z.int().min(100).max(999).nullable(),
  protocol: z.string().max(100).nullable(),
});
export type Detail = z.output<typeof Detail>;
