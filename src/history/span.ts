import { dayMs, hourMs } from '#kernel/units.ts';
/** A stretch of time in milliseconds since the epoch: from `from` until before `to`. */
export interface TimeSpan {
  readonly from: number;
  readonly to: number;
}

/** What a part of a span is read from: sealed days, sealed hours, or the results one by one. */
export interface SpanPart extends TimeSpan {
  readonly of: 'days' | 'hours' | 'results';
}

/** What there is to read from: times in milliseconds since the epoch. */
export interface RetentionLimits {
  /** Days that begin before it are sealed. */
  readonly daysUntil: number;
  /** Hours that begin before it are sealed. */
  readonly hoursUntil: number;
  /** Sealed hours from here on are there, and sealed results from there on: before it they are forgotten. */
  readonly hoursFrom: number;
  readonly resultsFrom: number;
  /** The first day of which anything is kept. */
  readonly daysFrom: number;
}

/**
 * Cuts a span into what is read from the coarsest source that fits it exactly: whole days, whole hours around them, results at the
 * edges. If what an edge needs is forgotten it is widened to the hour or the day that it lies in; the pieces say so.
 */
export function cover({ from, to }: TimeSpan, kept: RetentionLimits): readonly SpanPart[] {
  const pieces: SpanPart[] = [];
  for (let at = from; at < to;) {
    const piece = pieceAt(at, to, kept);
    const last = pieces.at(-1);
    if (last?.of === piece.of) pieces[pieces.length - 1] = { ...last, to: piece.to };
    else pieces.push(piece);
    at = piece.to;
  }
  return pieces;
}

function pieceAt(at: number, to: number, { daysUntil, hoursUntil, hoursFrom, resultsFrom }: RetentionLimits): SpanPart {
  const day = floorTo(at, dayMs);
  const isWholeDay = at === day && day + dayMs <= to;
  if (day < daysUntil && (isWholeDay || day < hoursFrom)) return { of: 'days', from: day, to: day + dayMs };
  const hour = floorTo(at, hourMs);
  const isWholeHour = at === hour && hour + hourMs <= to;
  if (hour < hoursUntil && (isWholeHour || hour < resultsFrom)) return { of: 'hours', from: hour, to: hour + hourMs };
  // Nothing after it is sealed: neither days nor hours follow.
  return { of: 'results', from: at, to: hour < hoursUntil ? Math.min(to, hour + hourMs) : to };
}

function floorTo(at: number, step: number): number {
  return Math.floor(at / step) * step;
}

const minute = 60_000;
// None between three hours and a day: months would be made of thousands of hours, if a day is kept as one.
const steps = [1, 2, 5, 10, 15, 30, 60, 120, 180, 1_440, 2_880, 10_080, 43_200].map((count) => count * minute);

/** The shortest step, in milliseconds, that cuts a span into at most `points` parts and is not below `leastMs`. */
export function stepFor({ from, to }: TimeSpan, points: number, leastMs = 0): number {
  const fits = (step: number) => step >= leastMs && Math.ceil(to / step) - Math.floor(from / step) <= points;
  return steps.find(fits) ?? floorTo(Math.max((to - from) / Math.max(points - 1, 1), leastMs) + dayMs - 1, dayMs);
}

/** The parts of a span between the multiples of a step; the first and the last may be shorter. */
export function partsOf({ from, to }: TimeSpan, stepMs: number): readonly TimeSpan[] {
  const parts: TimeSpan[] = [];
  for (let at = from; at < to;) {
    const end = Math.min(floorTo(at, stepMs) + stepMs, to);
    parts.push({ from: at, to: end });
    at = end;
  }
  return parts;
}
