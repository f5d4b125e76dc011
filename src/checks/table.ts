import type { Outcome } from './outcome.ts';

/** One figure, or a list of what was found. */
export type Cell = string | readonly string[];

/** What a table of outcomes has besides state, time and address. */
export interface OutcomeTable<Detail> {
  /** What a node did whose outcome is up, as the end of a sentence: "6 of 8 nodes ...". */
  readonly did: string;
  readonly columns: readonly string[];
  /** One for each column; empty where an outcome has none. */
  cells(outcome: Outcome<Detail>): readonly Cell[];
}
