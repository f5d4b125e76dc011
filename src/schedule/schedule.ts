import { stableFraction } from '#kernel/hash.ts';
import { cronTicks } from './cron-ticks.ts';

/** When a target is due: every so often, or by a cron pattern (five or six fields) in a time zone. */
export type Schedule = (
  | { readonly kind: 'every'; readonly everyMs: number }
  | { readonly kind: 'cron'; readonly pattern: string; readonly timezone: string }
) & { readonly slots?: Slots | undefined };

/** Due times lie in slots, so that checks of several targets share a wake-up: times that are multiples of so many milliseconds. */
export interface Slots {
  readonly ms: number;
  /** Until this moment they are multiples of `beforeMs`. */
  readonly since: number;
  readonly beforeMs: number;
}

/** Gives the first due time after a moment; null if there is none any more. */
export type NextDue = (after: number) => number | null;

// A cron pattern means a moment, so its checks may move by a minute at the most.
const widestCronSpreadMs = 60_000;

/** If the number of others is unknown. */
const usualSlots: Slots = { ms: 100, since: 0, beforeMs: 100 };

// An interval has at least so many slots, or those of the usual width, and one shorter than a second has none.
const leastSlots = 10;
const shortestInSlotsMs = 1_000;

/**
 * The due times of a target. The schedule gives the tick; inside the tick each target has its own moment, by a hash of its
 * name, so that targets with the same schedule do not start together, cut to a slot, so that a few do. The same on every machine
 * and after every restart; other slots cut the moments of later ticks in another way, and no tick is left out or comes twice.
 */
export function createNextDue(schedule: Schedule, target: string): NextDue {
  const share = stableFraction(target);
  return schedule.kind === 'every'
    ? nextOfInterval(schedule, Math.floor(share * schedule.everyMs))
    : nextOfCron(schedule, share);
}

// One closure and no more: each target has several of these.
function nextOfInterval(
  { everyMs, slots = usualSlots }: Schedule & { readonly kind: 'every' },
  offset: number,
): NextDue {
  return (after) => {
    const moment = (Math.floor((after - offset) / everyMs) + 1) * everyMs + offset;
    const due = cutTo(slots, everyMs, moment);
    return due > after ? due : cutTo(slots, everyMs, moment + everyMs);
  };
}

function nextOfCron(
  { pattern, timezone, slots = usualSlots }: Schedule & { readonly kind: 'cron' },
  share: number,
): NextDue {
  const tickAfter = cronTicks(pattern, timezone);
  return (after) => {
    let tick = tickAfter(after - widestCronSpreadMs - 1);
    while (tick !== null) {
      const following = tickAfter(tick);
      const spread = Math.min(following === null ? widestCronSpreadMs : following - tick, widestCronSpreadMs);
      const due = cutTo(slots, spread, tick + Math.floor(share * spread));
      if (due > after) return due;
      tick = following;
    }
    return null;
  };
}

function cutTo({ ms, since, beforeMs }: Slots, intervalMs: number, moment: number): number {
  if (intervalMs < shortestInSlotsMs) return moment;
  const wanted = moment <= since ? beforeMs : ms;
  const slot = wanted * leastSlots <= intervalMs ? wanted : Math.min(wanted, usualSlots.ms);
  return Math.floor(moment / slot) * slot;
}

const mostCounted = 100;

/**
 * How many due times there are after `from`, up to `until`. More than a hundred are estimated from these: a clock that is set forward by
 * years, or a machine that sleeps for weeks, passes over millions, and counting must not hold up the others.
 */
export function countDues(next: NextDue, from: number, until: number): number {
  const first = next(from);
  if (first === null) return 0;
  let [count, last] = [0, first];
  for (let due: number | null = first; due !== null && due <= until; due = next(due)) {
    if (count > mostCounted) return count + Math.floor(((until - last) * (count - 1)) / (last - first));
    [count, last] = [count + 1, due];
  }
  return count;
}

const sampledTicks = 50;

/** The longest time between two due times among the next ones, in milliseconds; null if there are fewer than two. */
export function longestInterval(schedule: Schedule, target: string, now: number): number | null {
  if (schedule.kind === 'every') return schedule.everyMs;
  const next = createNextDue(schedule, target);
  let longest: number | null = null;
  let due = next(now);
  for (let tick = 0; tick < sampledTicks && due !== null; tick += 1) {
    const following = next(due);
    if (following !== null) longest = Math.max(longest ?? 0, following - due);
    due = following;
  }
  return longest;
}
