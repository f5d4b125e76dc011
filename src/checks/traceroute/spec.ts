import { z } from 'zod';
import { always } from '#kernel/refine.ts';
import { pathDeadlineMs, pathOptions, refusePort } from '../path/options.ts';

export const Spec = z
  .strictObject({
    type: z.literal('traceroute'),
    ...pathOptions,
    queries: z.int().min(1).max(5).default(3).describe('How many packets are sent for each hop.'),
  })
  .superRefine(refusePort, always);
export type Spec = z.output<typeof Spec>;

/** From one packet for a hop to the next. */
export const queryGapMs = 50;

export function deadlineMs(spec: Spec): number {
  return pathDeadlineMs(spec, spec.queries, queryGapMs);
}
