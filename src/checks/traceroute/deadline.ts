import { pathDeadlineMs } from '../path/options.ts';
import type { Spec } from './spec.ts';

/** From one packet for a hop to the next. */
export const queryGapMs = 50;

export function deadlineMs(spec: Spec): number {
  return pathDeadlineMs(spec, spec.queries, queryGapMs);
}
