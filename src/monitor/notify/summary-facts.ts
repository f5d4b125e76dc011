import type { BudgetLeft } from '#history/reader.ts';
import type { Incident } from '../judge/incident.ts';

/** How things went in a stretch of time, in milliseconds since the epoch. */
export interface SummaryFacts {
  readonly from: number;
  readonly to: number;
  /** From when on there are results: what was before is gone, or was never measured. */
  readonly knownFrom: number;
  /** The answers about every target that was checked, with the times of those that were up. */
  readonly targets: readonly {
    readonly target: string;
    readonly up: number;
    readonly down: number;
    readonly unknown: number;
    /** The share of the time with a verdict in which it was not down; null if there was none. */
    readonly uptime: number | null;
    readonly p95Seconds: number | null;
    readonly meanSeconds: number | null;
    readonly longestSeconds: number | null;
    /** What is left of its objective's budget at the end; null if it has none. */
    readonly budget: BudgetLeft | null;
  }[];
  /** The share of the time with a verdict in which the targets were not down, of all together. */
  readonly uptime: number | null;
  /** Those that were open for a part of it, as they are by now. */
  readonly incidents: readonly Incident[];
}

export interface SummaryStore {
  /** How things went from `from` until before `to`. */
  summarise(from: number, to: number): Promise<SummaryFacts>;
}
