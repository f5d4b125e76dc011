import { z } from 'zod';
import { concealAddresses } from '../conceal.ts';
import type { Outcome } from '../outcome.ts';

/** How one echo request ended (interface 2.7). */
export const AttemptStatus = z.enum(['OK', 'TIMEOUT', 'MALFORMED', 'DEST_UNREACH', 'ERROR']);
export type AttemptStatus = z.infer<typeof AttemptStatus>;

export const Attempt = z.strictObject({
  status: AttemptStatus,
  /** The round trip; for TIMEOUT how long was waited, for DEST_UNREACH when the error came, for ERROR 0. */
  seconds: z.number().min(0).max(1e6),
  /** TTL or hop limit that the reply arrived with, if it is known. */
  ttl: z.int().min(0).max(255).nullable(),
  /** Why it is not OK, if a host reported it. */
  reason: z.string().max(200).nullable(),
});
export type Attempt = z.infer<typeof Attempt>;

/** What a ping found out besides its figures. */
export const Detail = z.strictObject({
  /** One for each echo request, in the order they were sent. */
  attempts: z.array(Attempt).min(1).max(100),
  /** Replies that came again while the ping went on. */
  duplicates: z.int().min(0).max(1_000_000),
  /** Who took the round trips: the kernel, or for at least one of them our own clock; null if a row did not tell. */
  timed_by: z.enum(['kernel', 'clock']).nullable(),
});
export type Detail = z.infer<typeof Detail>;

/** What strangers may hear: not which routers of the node's own network said something. */
export function forStrangers(outcome: Outcome<Detail>): Outcome<Detail> {
  const { detail } = outcome;
  if (detail === null) return outcome;
  const attempts = detail.attempts.map(({ reason, ...attempt }) => ({
    ...attempt,
    reason: reason === null ? null : concealAddresses(reason).slice(0, 200),
  }));
  return { ...outcome, detail: { ...detail, attempts } };
}
