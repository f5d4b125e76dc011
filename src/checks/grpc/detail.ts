import { z } from 'zod';
import { Detail as TcpDetail } from '../tcp/detail.ts';

/** What a server said of its health; null where it did not come to that. */
export const Detail = TcpDetail.pick({ tls: true }).extend({
  health: z.enum(['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN']).nullable(),
});
export type Detail = z.output<typeof Detail>;
