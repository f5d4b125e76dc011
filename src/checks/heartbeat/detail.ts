import { z } from 'zod';

/** What a job said of itself. */
export const Detail = z.strictObject({
  /** Null if it said none. */
  exit_code: z.int().min(0).max(255).nullable(),
  /** The last lines of what it sent. */
  log: z.array(z.string().max(200)).max(10),
});
export type Detail = z.output<typeof Detail>;
