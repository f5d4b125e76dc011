import { z } from 'zod';
import { Detail as TcpDetail } from '../tcp/detail.ts';

export const healths = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'] as const;

/** What a server said of its health; null where it did not come to that. */
export const Detail = TcpDetail.pick({ tls: true }).extend({
  health: z.enum(healths).nullable(),
});
export type Detail = z.output<typeof Detail>;
