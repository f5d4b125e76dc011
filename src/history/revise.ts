import type { RoundVerdict, VerdictPeriod } from './verdict-periods.ts';

/** A round of the past with the due times of the rounds before and after it; null if they are not known. */
export interface RoundNeighbours {
  readonly before: number | null;
  readonly dueAt: number;
  readonly after: number | null;
}

/** The verdict period that a moment lies in, or the last one before it, and its neighbours; null for none. */
export interface AdjacentPeriods {
  readonly previous: VerdictPeriod | null;
  readonly at: VerdictPeriod | null;
  readonly next: VerdictPeriod | null;
}

/**
 * The periods in place of those around a round, once that round has a verdict that it did not have when it ended. Null if nothing
 * changes: the round had a verdict, or has none now.
 */
export function revisePeriods(
  around: AdjacentPeriods,
  round: RoundNeighbours,
  verdict: RoundVerdict,
): readonly VerdictPeriod[] | null {
  const { previous, at, next } = around;
  const { dueAt } = round;
  if (verdict.status === 'unknown' || hasVerdictAt(at, dueAt)) return null;
  const isInside = at !== null && dueAt <= at.last;
  const pieces: VerdictPeriod[] = [];
  for (const one of [previous, at === null ? null : isInside ? beginningOf(at, round) : at])
    if (one !== null) pieces.push(one);
  pieces.push({ from: dueAt, last: dueAt, ...verdict });
  for (const one of [isInside ? restOf(at, round) : null, next]) if (one !== null) pieces.push(one);
  return pieces.reduce(join, []);
}

/** Whether the rounds of a period that a moment lies in had a verdict. */
export function hasVerdictAt(period: VerdictPeriod | null, dueAt: number): boolean {
  return period !== null && dueAt <= period.last && period.status !== 'unknown';
}

function beginningOf(period: VerdictPeriod, { before, dueAt }: RoundNeighbours): VerdictPeriod | null {
  if (period.from >= dueAt) return null;
  const last = before ?? dueAt - usualGapMs(period);
  return { ...period, last: Math.max(period.from, Math.min(last, dueAt - 1)) };
}

function restOf(period: VerdictPeriod, { dueAt, after }: RoundNeighbours): VerdictPeriod | null {
  const from = after ?? dueAt + usualGapMs(period);
  return from > period.last ? null : { ...period, from };
}

// What a round saw holds for two intervals.
const usualGapMs = ({ holdsMs }: VerdictPeriod) => Math.max(1, Math.floor(holdsMs / 2));

function join(joined: VerdictPeriod[], next: VerdictPeriod): VerdictPeriod[] {
  const last = joined.at(-1);
  const goesOn =
    last !== undefined &&
    last.status === next.status &&
    last.inMaintenance === next.inMaintenance &&
    last.holdsMs === next.holdsMs &&
    next.from <= last.last + last.holdsMs;
  if (goesOn) joined[joined.length - 1] = { ...last, last: Math.max(last.last, next.last) };
  else joined.push(next);
  return joined;
}
