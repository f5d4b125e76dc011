import { z } from 'zod';
import { StreamDetail } from '../stream/tls-schemas.ts';

export const healths = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'] as const;

/** What a server said of its health; null if it did not come to that. */
export const Detail = StreamDetail.pick({ tls: true }).extend({
  health: z.enum(healths).nullable(),
});
export type Detail = z.output<typeof Detail>;
