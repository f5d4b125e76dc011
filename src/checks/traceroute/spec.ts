import { z } from 'zod';
import { always } from '#kernel/refine.ts';
import { pathOptions, refusePort } from '../path/option-schemas.ts';

export const Spec = z
  .strictObject({
    type: z.literal('traceroute'),
    ...pathOptions,
    queries: z.int().min(1).max(5).default(3).describe('How many packets are sent for each hop.'),
  })
  .superRefine(refusePort, always);
export type Spec = z.output<typeof Spec>;
