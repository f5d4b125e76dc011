import { z } from 'zod';
import { ServerDetail } from '../database/detail-schema.ts';

/** What a server is to its replica set; `other` while it starts, recovers or belongs to no set yet. */
export const ServerRole = z.enum(['primary', 'secondary', 'arbiter', 'standalone', 'mongos', 'other']);
export type ServerRole = z.infer<typeof ServerRole>;

export const Detail = ServerDetail.extend({
  /** Null if the server has not said what it is. */
  role: ServerRole.nullable(),
  /** The name of its replica set; null if it is in none. */
  set: z.string().max(200).nullable(),
});
export type Detail = z.output<typeof Detail>;
