import { z } from 'zod';
import type { Outcome } from '../outcome.ts';
import { concealHops } from '../path/addresses.ts';
import { PathTrace } from '../path/path-trace.ts';

const Seconds = z.number().min(0).max(1e6).nullable();

/** The figures of one hop; times in seconds, null without an answer. */
export const HopFigures = z.strictObject({
  hop: z.int().min(1).max(64),
  sent: z.int().min(1).max(16),
  received: z.int().min(0).max(16),
  /** Share of the packets without an answer, 0 to 1. */
  loss: z.number().min(0).max(1),
  last: Seconds,
  mean: Seconds,
  best: Seconds,
  worst: Seconds,
  /** Standard deviation. */
  deviation: Seconds,
  /** Mean difference from one round trip to the next. */
  jitter: Seconds,
  /** Packets without an answer, none of which was lost: a hop behind answered all. The router limits its answers. */
  limits_answers: z.boolean(),
});
export type HopFigures = z.infer<typeof HopFigures>;

export const Detail = z.strictObject({ path: PathTrace, figures: z.array(HopFigures).max(64) });
export type Detail = z.infer<typeof Detail>;

/** What strangers may see: not the routers of private networks. */
export function forStrangers(outcome: Outcome<Detail>): Outcome<Detail> {
  const { detail } = outcome;
  return detail === null ? outcome : { ...outcome, detail: { ...detail, path: concealHops(detail.path) } };
}
