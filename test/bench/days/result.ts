import type { Verdict } from './judge.ts';

/** What one system did on one day. */
export interface SystemResult {
  readonly system: string;
  readonly verdict: Verdict;
  /** Beginnings reported in mails without a target, a reason or a time. */
  readonly unclear: { readonly mails: number; readonly target: number; readonly reason: number; readonly time: number };
}

export interface DayResult {
  readonly day: string;
  readonly seed: number;
  readonly results: readonly SystemResult[];
}
