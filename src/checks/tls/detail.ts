import type { z } from 'zod';
import { Detail as TcpDetail } from '../tcp/detail.ts';

/** What was agreed on, and what the server presented; null where there was no agreement. */
export const Detail = TcpDetail.pick({ tls: true });
export type Detail = z.output<typeof Detail>;
