import type { Random } from '#kernel/random.ts';
import type { Delivery } from '../judge/delivery.ts';

const firstMs = 10_000;
const longestMs = 15 * 60_000;
const spread = 0.2;
const longestAskedMs = 24 * 3_600_000;

const patienceMs = 7 * 24 * 3_600_000;
const patienceAttempts = 100;

/**
 * How long to wait after a failed attempt: 10 s, doubled by each attempt before, at most 15 min, give or take 20 %; longer
 * where the other side asked for it, by a day at most.
 */
export function backoffMs(attempts: number, random: Random, askedMs = 0): number {
  const doubled = Math.min(firstMs * 2 ** attempts, longestMs);
  const jittered = doubled * (1 - spread + 2 * spread * random.next());
  return Math.round(Math.max(jittered, Math.min(askedMs, longestAskedMs)));
}

/**
 * Whether a delivery that failed again is given up: a week old, and tried about a day's worth of times, so that neither a
 * clock that was set nor a week without power loses it.
 */
export function isHopeless(delivery: Delivery, now: number): boolean {
  return now - delivery.createdAt >= patienceMs && delivery.attempts >= patienceAttempts;
}
