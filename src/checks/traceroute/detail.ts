import type { z } from 'zod';
import type { Outcome } from '../outcome.ts';
import { concealHops } from '../path/addresses.ts';
import { PathTrace } from '../path/path-trace.ts';

/** The path that was found. */
export const Detail = PathTrace;
export type Detail = z.infer<typeof Detail>;

/** What strangers may see: not the routers of private networks. */
export function forStrangers(outcome: Outcome<Detail>): Outcome<Detail> {
  const { detail } = outcome;
  return detail === null ? outcome : { ...outcome, detail: concealHops(detail) };
}
