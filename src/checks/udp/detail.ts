import { z } from 'zod';

/** The contents of a reply; null if none came, or if the row has none. */
export const Detail = z.strictObject({
  replied: z.boolean(),
  /** Datagrams that were sent. */
  sent: z.int().min(0).max(3).nullable(),
  /** The reply's length. */
  bytes: z.int().min(0).max(65_535).nullable(),
  /** The reply's first 512 bytes in base64. */
  reply: z.base64().max(684).nullable(),
  /** What the reply says in the preset's protocol: `NTPv4, stratum 2`. */
  note: z.string().max(200).nullable(),
});
export type Detail = z.output<typeof Detail>;
