import type { Failure } from '#checks/index.ts';

/** A run of a job that said when it began and has not ended. */
export interface OpenRun {
  /** What the job calls the run, or null where it gives no names. */
  readonly run: string | null;
  readonly at: number;
  /** Whether nobody waits for its end any more: it was told that it takes too long, or a later run has ended. */
  readonly settled: boolean;
}

/** What was heard of a job: all that has to be known to say how it is. Times are wall time. */
export interface HeartbeatState {
  /** Since when it has been waited for. */
  readonly since: number;
  /** When it called last, whatever it said; null where it never did. */
  readonly at: number | null;
  /** When the run began that was heard of last: by its start, or by its end where it said nothing before. */
  readonly began: number | null;
  /** At most ten, the oldest first. */
  readonly open: readonly OpenRun[];
  /** Up to when no word that was expected came; null since the last word. */
  readonly missedUntil: number | null;
  /** The last round: what it was due at, and what was wrong, or null. */
  readonly last: { readonly dueAt: number; readonly failure: Failure | null } | null;
  /** The last calls with a name of a run, so that one that comes again is known. */
  readonly calls: readonly string[];
}
