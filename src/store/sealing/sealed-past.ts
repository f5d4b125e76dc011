import type { PackedResult } from '#history/pack.ts';
import type { TimeSpan } from '#history/span.ts';
import { Tally } from '#history/tally.ts';
import { dayMs, hourMs } from '#kernel/units.ts';
import { type LateResults, withLate } from './late.ts';
import type { TargetNodePair, SealedRows, SumsRow } from './sealed-rows.ts';

/** What is sealed, with the results that came late and still wait to be sealed into it. */
export interface SealedPast {
  /** In order of time. */
  results(pair: TargetNodePair, span: TimeSpan): readonly PackedResult[];
  sums(of: 'hours' | 'days', pair: TargetNodePair, span: TimeSpan): readonly SumsRow[];
}

export function createSealedPast(rows: SealedRows, late: LateResults): SealedPast {
  function sums(of: 'hours' | 'days', pair: TargetNodePair, { from, to }: TimeSpan): readonly SumsRow[] {
    const sealed = rows.sums(of, pair, from, to);
    const waiting = late.of(pair, from, to);
    if (waiting.length === 0) return sealed;
    const all = new Map(sealed.map((row) => [row.at, row]));
    for (const [at, some] of Map.groupBy(waiting, ({ dueAt }) => floor(dueAt, of === 'hours' ? hourMs : dayMs))) {
      const tally = of === 'hours' ? hourWith(pair, at, some) : dayOf(pair, at);
      all.set(at, { nodeId: pair.nodeId, at, ...tally.sums });
    }
    return [...all.values()].toSorted((a, b) => a.at - b.at);
  }

  function hourWith(pair: TargetNodePair, at: number, waiting: readonly PackedResult[]): Tally {
    const tally = new Tally();
    for (const result of withLate(rows.results(pair, at) ?? [], waiting)) tally.addResult(result);
    return tally;
  }

  function dayOf(pair: TargetNodePair, at: number): Tally {
    const tally = new Tally();
    for (const row of sums('hours', pair, { from: at, to: at + dayMs })) tally.addSums(row);
    return tally;
  }

  return {
    results(pair, { from, to }) {
      if (from >= to) return [];
      const hours = rows.sums('hours', pair, floor(from, hourMs), to);
      const packed = hours.flatMap(({ at }) => rows.results(pair, at) ?? []);
      const all = withLate(packed, late.of(pair, floor(from, hourMs), to));
      return all.filter(({ dueAt }) => dueAt >= from && dueAt < to);
    },
    sums,
  };
}

const floor = (at: number, unit: number) => Math.floor(at / unit) * unit;
