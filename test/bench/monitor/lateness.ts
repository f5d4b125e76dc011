import { percentile } from '../tools/table.ts';

export interface Spread {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((one, other) => one - other);
  return { p50: percentile(sorted, 0.5), p99: percentile(sorted, 0.99), max: sorted.at(-1) ?? Number.NaN };
}

/** How many milliseconds after each due time the target was connected to; due times without an arrival are `missing`. */
export function latenessOf(
  dueAt: readonly number[],
  arrivals: readonly number[],
  intervalMs: number,
): { readonly late: readonly number[]; readonly missing: number } {
  const late: number[] = [];
  let next = 0;
  for (const due of dueAt) {
    // The server's clock is the same, but its fraction of a millisecond may be cut off on our side.
    while (next < arrivals.length && (arrivals[next] ?? 0) < due - 1) next += 1;
    const arrival = arrivals[next];
    if (arrival === undefined || arrival >= due + intervalMs / 2) continue;
    late.push(arrival - due);
    next += 1;
  }
  return { late, missing: dueAt.length - late.length };
}

/** For programs that do not tell when a check was due: how far each arrival is behind the earliest of its target's rhythm. */
export function unevennessOf(arrivals: readonly number[], intervalMs: number): readonly number[] {
  const [first = 0] = arrivals;
  const offsets = arrivals.map((at) => at - first - Math.round((at - first) / intervalMs) * intervalMs);
  const earliest = Math.min(...offsets);
  return offsets.map((offset) => offset - earliest);
}

/**
 * How far each check is behind a regular grid with one for each interval: what a program loses in each interval adds up. The grid is
 * moved so that the earliest is 0. Arrivals less than half an interval after the last check belong to that: retries, evidence.
 */
export function gridLatenessOf(arrivals: readonly number[], intervalMs: number): readonly number[] {
  const checks: number[] = [];
  for (const at of arrivals) {
    const last = checks.at(-1);
    if (last === undefined || at - last >= intervalMs / 2) checks.push(at);
  }
  const offsets = checks.map((at, index) => at - index * intervalMs);
  const earliest = Math.min(...offsets);
  return offsets.map((offset) => offset - earliest);
}
