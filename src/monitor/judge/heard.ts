import type { Failure } from '#checks/index.ts';

/** A run of a job that said when it began and has not ended. */
export interface OpenRun {
  /** What the job calls the run, or null if it gives no names. */
  readonly run: string | null;
  readonly at: number;
  /** Whether its end is not awaited any more: the job was overdue with it, or a later run has ended. */
  readonly settled: boolean;
}

/** The pings of a job, as far as its state depends on them. Times are wall time. */
export interface HeartbeatState {
  /** Since when it has been waited for. */
  readonly since: number;
  /** When it called last, whatever it said; null if it never did. */
  readonly at: number | null;
  /** When the last run began: by its start, or by its end if it sent no start. */
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
