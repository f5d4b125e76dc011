import { dayMs } from '#kernel/units.ts';
import type { PastRound } from './reader.ts';
import type { HistorySource, PastResult } from './source.ts';
import type { VerdictPeriod } from './verdict-periods.ts';

const longestLookBackMs = 7 * dayMs;

/** The newest rounds of a target before a moment, the newest first, with what each node saw. */
export function lastRounds(
  source: HistorySource,
  target: string,
  { before, limit }: { readonly before: number; readonly limit: number },
): readonly PastRound[] {
  const dues = source.rounds(target, before, before - longestLookBackMs, limit);
  const [newest] = dues;
  const oldest = dues.at(-1);
  if (newest === undefined || oldest === undefined) return [];
  const span = { from: oldest, to: newest + 1 };
  const periods = source.judgedPeriods(target, span);
  const results = Map.groupBy(source.results(target, null, span), ({ dueAt }) => dueAt);
  return dues.flatMap((dueAt) => roundOf(periods, results.get(dueAt) ?? []) ?? []);
}

function roundOf(periods: readonly VerdictPeriod[], votes: readonly PastResult[]): PastRound | null {
  const [first] = votes;
  if (first === undefined) return null;
  const period = periods.findLast(({ from, last }) => from <= first.dueAt && first.dueAt <= last);
  return { dueAt: first.dueAt, status: period?.status ?? null, votes: votes.map(nodeResultOf) };
}

function nodeResultOf({ node, status, durationUs, failure, lateAt }: PastResult) {
  return { node, status, seconds: durationUs === null ? null : durationUs / 1e6, failure, lateAt };
}
