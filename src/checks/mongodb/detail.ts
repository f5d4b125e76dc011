import { z } from 'zod';
import { nothingFound, ServerDetail } from '../database/detail.ts';

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

export const nothingSaid = (): Detail => ({ ...nothingFound(), role: null, set: null });

/** "primary of rs0"; empty if the server has not said what it is. */
export function roleText(detail: Detail | null): string {
  const { role, set } = detail ?? { role: null, set: null };
  return role === null ? '' : set === null ? role : `${role} of ${set}`;
}
