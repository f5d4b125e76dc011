import { type Clock, clockJitterMs, sleepUntil } from '#kernel/clock.ts';
import { createNextDue, type NextDue, type Schedule } from './schedule.ts';

export interface DueTime {
  /** Wall time in milliseconds; with the target, the name of the round. */
  readonly dueAt: number;
  /** How many due times went by unused since the last one. */
  readonly skipped: number;
}

// The exact count of more is of no use, and counting must not hold up the others.
const mostCounted = 10_000;

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
): AsyncGenerator<DueTime, void, undefined> {
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
