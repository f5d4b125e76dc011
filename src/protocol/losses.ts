import { z } from 'zod';

const Count = z.int().min(0);

/** What a node did not see, or saw in vain, since it started: counts. */
export const Losses = z.object({
  /** Results that its spool gave up for their age or number. */
  dropped: Count,
  /** Results that the hub refused. */
  refused: Count,
  /** Due times that went by because the node was frozen or held up. */
  skipped: Count,
  /** Healthy results that were skipped because the hub was overloaded; absent from a process of an earlier version. */
  hub_overload: Count.optional(),
});
export type Losses = z.output<typeof Losses>;
