import { Cron } from 'croner';
import { type Clock, sleepUntil } from '#kernel/clock.ts';
import { stableFraction } from '#kernel/hash.ts';

/** When a target is due: every so often, or by a cron pattern (five or six fields) in a time zone. */
export type Schedule =
  | { readonly kind: 'every'; readonly everyMs: number }
  | { readonly kind: 'cron'; readonly pattern: string; readonly timezone: string };

export interface Due {
  /** Wall time in milliseconds; with the target, the name of the round. */
  readonly dueAt: number;
  /** How many due times went by unused since the last one. */
  readonly skipped: number;
}

/** Gives the first due time after a moment; null where there is none any more. */
export type NextDue = (after: number) => number | null;

// A cron pattern means a moment, so its checks may move by a minute at the most.
const widestCronSpreadMs = 60_000;

/**
 * The due times of a target. The schedule gives the tick; inside the tick each target has its own moment, by a hash of its
 * name, so that targets with the same schedule do not start together. The same on every machine and after every restart.
 */
export function createNextDue(schedule: Schedule, target: string): NextDue {
  const share = stableFraction(target);
  if (schedule.kind === 'every') {
    const { everyMs } = schedule;
    const offset = Math.floor(share * everyMs);
    return (after) => (Math.floor((after - offset) / everyMs) + 1) * everyMs + offset;
  }
  const cron = new Cron(schedule.pattern, { timezone: schedule.timezone, paused: true });
  const tickAfter = (moment: number) => cron.nextRun(new Date(moment))?.getTime() ?? null;
  return (after) => {
    let tick = tickAfter(after - widestCronSpreadMs - 1);
    while (tick !== null) {
      const following = tickAfter(tick);
      const spread = Math.min(following === null ? widestCronSpreadMs : following - tick, widestCronSpreadMs);
      const due = tick + Math.floor(share * spread);
      if (due > after) return due;
      tick = following;
    }
    return null;
  };
}

const sampledTicks = 50;

/** The longest time between two due times among the next ones, in milliseconds; null where there are fewer than two. */
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

// Nobody needs the exact count of more, and counting must not hold up the others.
const mostCounted = 10_000;

// NTP slews, and small steps back, must not repeat a round.
const clockJitterMs = 1_000;

/**
 * Yields each due time when it has come, until the signal is aborted (then it ends) or the schedule has none left.
 * A due time that passes while its consumer is busy or the machine is asleep is counted and never made up for.
 * Where the wall clock was set back, the same due times come again a millisecond later, so that no two are alike.
 */
export async function* dueTimes(
  schedule: Schedule,
  target: string,
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<Due, void, undefined> {
  const next = createNextDue(schedule, target);
  let last: number | null = null;
  let repeats = 0;
  while (!signal.aborted) {
    const now = clock.now();
    const goesOn = last !== null && now >= last - clockJitterMs;
    const due = next(goesOn && last !== null ? Math.max(now, last) : now);
    if (due === null) return;
    if (last !== null && due <= last) repeats += 1;
    if (!(await arrives(clock, due + repeats, signal))) {
      if (signal.aborted) return;
      continue;
    }
    const following = next(due);
    if (following !== null && following + repeats <= clock.now()) {
      last ??= due - 1;
      continue;
    }
    yield { dueAt: due + repeats, skipped: goesOn && last !== null ? countBetween(next, last, due) : 0 };
    last = due;
  }
}

async function arrives(clock: Clock, at: number, signal: AbortSignal): Promise<boolean> {
  try {
    return await sleepUntil(clock, at, signal);
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}

function countBetween(next: NextDue, from: number, until: number): number {
  let count = 0;
  for (let due = next(from); due !== null && due < until && count < mostCounted; due = next(due)) count += 1;
  return count;
}
