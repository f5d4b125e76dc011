import { z } from 'zod';
import { always } from '#kernel/refine.ts';
import { Duration } from '#kernel/unit-schemas.ts';
import { pathDeadlineMs } from '../path/options.ts';
import { pathOptions, refusePort } from '../path/option-schemas.ts';

export const Spec = z
  .strictObject({
    type: z.literal('mtr'),
    ...pathOptions,
    packets: z.int().min(1).max(16).default(10).describe('How many packets are sent for each hop, in rounds.'),
    interval: Duration({ min: '100ms', max: '5s' }).default(1_000).describe('From one round to the next.'),
  })
  .superRefine(refusePort, always);
export type Spec = z.output<typeof Spec>;

export function deadlineMs(spec: Spec): number {
  return pathDeadlineMs(spec, spec.packets, spec.interval);
}
