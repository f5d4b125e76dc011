import type { TimeSpan } from './span.ts';

/** What the votes of a round said together: `partial` if some nodes, but not enough for the rule, see the target down. */
export type TargetStatus = 'up' | 'partial' | 'down' | 'unknown';

/**
 * A stretch of time in which every round of a target ended with the same verdict. What a round saw holds until the next round, but
 * no longer than `holdsMs`: what comes after that was not watched.
 */
export interface VerdictPeriod {
  /** When its first and its last round were due. */
  readonly from: number;
  readonly last: number;
  readonly holdsMs: number;
  readonly status: TargetStatus;
  readonly inMaintenance: boolean;
  /** Set if it stands for time that was excluded from uptime; such a period is never stored. */
  readonly isExcluded?: true;
}

/** Milliseconds that were spent so. Time in maintenance and excluded time are apart, whatever was seen then, and so is time without a round. */
export interface TimeByStatus {
  readonly up: number;
  readonly partial: number;
  readonly down: number;
  readonly unknown: number;
  readonly maintenance: number;
  readonly excluded: number;
  readonly unwatched: number;
}

export const noTime: TimeByStatus = {
  up: 0,
  partial: 0,
  down: 0,
  unknown: 0,
  maintenance: 0,
  excluded: 0,
  unwatched: 0,
};

/** What followed from a round. */
export interface RoundVerdict {
  readonly status: TargetStatus;
  readonly inMaintenance: boolean;
  readonly holdsMs: number;
}

/**
 * What the newest period becomes by a round that was due at `at`: the same one, a bit longer, or a new one. Null if the round is
 * older than what is known, which it does not change.
 */
export function follow(newest: VerdictPeriod | null, at: number, verdict: RoundVerdict): VerdictPeriod | null {
  const fresh = { from: at, last: at, ...verdict };
  if (newest === null) return fresh;
  if (at <= newest.last) return null;
  const goesOn =
    newest.status === verdict.status &&
    newest.inMaintenance === verdict.inMaintenance &&
    newest.holdsMs === verdict.holdsMs &&
    at <= newest.last + newest.holdsMs;
  return goesOn ? { ...newest, last: at } : fresh;
}

/** Where each period ends: with the next one, or when what its last round saw holds no longer, at `now` at the latest. */
function endsOf(periods: readonly VerdictPeriod[], now: number): readonly number[] {
  return periods.map(({ last, holdsMs }, index) => Math.min(last + holdsMs, periods[index + 1]?.from ?? now, now));
}

/** A part of a span in which a target was in one state. */
export interface VerdictSpan extends TimeSpan {
  readonly status: TargetStatus;
  readonly inMaintenance: boolean;
  readonly isExcluded: boolean;
}

/** The parts of a span that were watched or excluded. `periods` as in `timeIn`. */
export function verdictSpansIn(
  { from, to }: TimeSpan,
  periods: readonly VerdictPeriod[],
  now: number,
): readonly VerdictSpan[] {
  const ends = endsOf(periods, now);
  return periods.flatMap(({ from: begun, status, inMaintenance, isExcluded = false }, index) => {
    const span = { from: Math.max(begun, from), to: Math.min(ends[index] ?? to, to) };
    const period = { ...span, status, inMaintenance, isExcluded };
    return period.to > period.from ? [period] : [];
  });
}

/** From when on there are verdicts in a span; null if there are none. */
export function verdictsSince({ from, to }: TimeSpan, periods: readonly VerdictPeriod[]): number | null {
  const first = periods.find(
    (period) =>
      period.from < to && period.last + period.holdsMs > from && (period.status !== 'unknown' || period.inMaintenance),
  );
  return first === undefined ? null : Math.max(first.from, from);
}

/** How a part of a span went. */
export interface PartTime {
  readonly time: TimeByStatus;
  /** As in `verdictsSince`. */
  readonly since: number | null;
}

/** How the time of a span was spent. `periods` are all that touch it, oldest first, and the one after them if there is one. */
export function timeIn(span: TimeSpan, periods: readonly VerdictPeriod[], now: number): TimeByStatus {
  return timesIn([span], periods, now)[0]?.time ?? noTime;
}

/** The same for parts that follow each other, in one walk over the periods. Whole parts without a period share what they say. */
export function timesIn(
  parts: readonly TimeSpan[],
  periods: readonly VerdictPeriod[],
  now: number,
): readonly PartTime[] {
  const ends = endsOf(periods, now);
  let unwatched: PartTime | null = null;
  let reached = 0;
  return parts.map(({ from, to }) => {
    while (reached < periods.length && (ends[reached] ?? to) <= from) reached += 1;
    const all = Math.max(0, Math.min(to, now) - from);
    let time: Record<keyof TimeByStatus, number> | null = null;
    let since: number | null = null;
    let known = 0;
    for (let index = reached; index < periods.length; index += 1) {
      const period = periods[index];
      if (period === undefined || period.from >= to) break;
      const begun = Math.max(period.from, from);
      const ms = Math.min(ends[index] ?? to, to) - begun;
      if (ms <= 0) continue;
      time ??= { ...noTime };
      time[kindOf(period)] += ms;
      known += ms;
      if (since === null && (period.status !== 'unknown' || period.inMaintenance)) since = begun;
    }
    if (time !== null) {
      time.unwatched = Math.max(0, all - known);
      return { time, since };
    }
    if (unwatched?.time.unwatched !== all) unwatched = { time: { ...noTime, unwatched: all }, since: null };
    return unwatched;
  });
}

function kindOf({ status, inMaintenance, isExcluded }: VerdictPeriod) {
  return isExcluded === true ? 'excluded' : inMaintenance ? 'maintenance' : status;
}

export function addTime(a: TimeByStatus, b: TimeByStatus): TimeByStatus {
  return {
    up: a.up + b.up,
    partial: a.partial + b.partial,
    down: a.down + b.down,
    unknown: a.unknown + b.unknown,
    maintenance: a.maintenance + b.maintenance,
    excluded: a.excluded + b.excluded,
    unwatched: a.unwatched + b.unwatched,
  };
}

/** The share of the time with a verdict that the target was not down; null if there was none. Maintenance and excluded time do not count. */
export function uptimeOf({ up, partial, down }: TimeByStatus): number | null {
  const known = up + partial + down;
  return known === 0 ? null : (up + partial) / known;
}
