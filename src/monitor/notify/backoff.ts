import type { Random } from '#kernel/random.ts';
import { dayMs } from '#kernel/units.ts';
import type { Delivery } from '../judge/delivery.ts';

const firstMs = 10_000;
const longestMs = 15 * 60_000;
const spread = 0.2;
const longestAskedMs = dayMs;
const longestUrgentMs = 30_000;
const longestUrgentAskedMs = 60_000;

const firstRefusedMs = [1, 2, 5].map((minutes) => minutes * 60_000);
const laterRefusedMs = 15 * 60_000;
const longestRefusedMs = 6 * 3_600_000;

const longestUncertainMs = 3_600_000;

const patienceMs = 7 * dayMs;
const patienceAttempts = 100;

/**
 * How long to wait after a failed attempt: 10 s, doubled by each earlier attempt, at most 15 min, give or take 20 %; longer
 * if the server asks for it (`askedMs`), at most a day. An urgent message waits at most 30 s, or a minute if the server asks
 * for it.
 */
export function backoffMs(attempts: number, random: Random, askedMs = 0, isUrgent = false): number {
  const own = jittered(firstMs, attempts, isUrgent ? longestUrgentMs / (1 + spread) : longestMs, random);
  return Math.round(Math.max(own, askedWaitMs(askedMs, isUrgent)));
}

/** How long a server is not called that asked for `askedMs`. */
export function askedWaitMs(askedMs: number, isUrgent: boolean): number {
  return Math.min(askedMs, isUrgent ? longestUrgentAskedMs : longestAskedMs);
}

/**
 * How long to wait after the server rejected a message for good: 1, 2 and 5 min, then 15 min, doubled each time, at most 6 h,
 * give or take 20 %. It is retried because such a reply may be wrong, and full mailboxes and policies change.
 */
export function refusedMs(attempts: number, random: Random): number {
  const early = firstRefusedMs[attempts];
  if (early !== undefined) return Math.round(jittered(early, 0, early, random));
  return Math.round(jittered(laterRefusedMs, attempts - firstRefusedMs.length, longestRefusedMs, random));
}

/**
 * How long to wait before a message is repeated that may have been accepted: `leastMs`, doubled by each earlier attempt, at most
 * an hour, up to 20 % more.
 */
export function uncertainWaitMs(leastMs: number, attempts: number, random: Random): number {
  const ms = Math.max(leastMs, Math.min(leastMs * 2 ** attempts, longestUncertainMs));
  return Math.round(ms * (1 + spread * random.next()));
}

function jittered(first: number, attempts: number, longest: number, random: Random): number {
  return Math.min(first * 2 ** attempts, longest) * (1 - spread + 2 * spread * random.next());
}

/**
 * Whether to give up a delivery that failed again: it is a week old and was tried 100 times, so that neither a clock that
 * was set nor a week without power loses it.
 */
export function isHopeless(delivery: Delivery, now: number): boolean {
  return now - delivery.createdAt >= patienceMs && delivery.attempts >= patienceAttempts;
}
