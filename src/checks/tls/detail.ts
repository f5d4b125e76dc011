import type { z } from 'zod';
import { StreamDetail } from '../stream/tls-schemas.ts';

/** What was agreed on, and what the server presented; null if there was no agreement. */
export const Detail = StreamDetail.pick({ tls: true });
export type Detail = z.output<typeof Detail>;
