import type { Failure } from '#checks/index.ts';
import type { Exclusion } from './exclusions.ts';
import type { IncidentDetail, PastIncident } from './incidents.ts';
import type { RetentionLimits, TimeSpan } from './span.ts';
import type { VerdictPeriod } from './verdict-periods.ts';
import type { CountedResult, Sums } from './tally.ts';

/** One node's result in one round. Times are milliseconds since the epoch, durations whole microseconds. */
export interface PastResult extends CountedResult {
  readonly dueAt: number;
  readonly node: string;
  readonly failure: PastFailure | null;
}

/** Why a node could not call a target up, and the address that it had reached by then. */
export interface PastFailure extends Failure {
  readonly address: string | null;
}

/** The sums of a node's sealed results in the hour or the day that begins at `at`. */
export interface SealedSums extends Sums {
  readonly node: string;
  readonly at: number;
}

/** What the reader reads from. Every method is one query, in order of time. */
export interface HistorySource {
  kept(): RetentionLimits;
  /** Names of all nodes that ever had a result. */
  nodes(): readonly string[];
  /** Whatever began in the span, one row for each node; of one node if it is named. */
  sealed(of: 'hours' | 'days', target: string, node: string | null, span: TimeSpan): readonly SealedSums[];
  /** The results that were due in the span, wherever they are kept; those of a round together, by the node's name. */
  results(target: string, node: string | null, span: TimeSpan): readonly PastResult[];
  /** When up to `limit` rounds before `before` were due, the newest first, not looking further back than `since`. */
  rounds(target: string, before: number, since: number, limit: number): readonly number[];
  /** The periods that touch the span, and the one after it if there is one, with excluded time as periods of its own. */
  periods(target: string, span: TimeSpan): readonly VerdictPeriod[];
  /** The same as they were judged, whatever was excluded since. */
  judgedPeriods(target: string, span: TimeSpan): readonly VerdictPeriod[];
  /** The exclusions that touch the span, of a target or, if it is null, all. */
  exclusions(target: string | null, span: TimeSpan): readonly Exclusion[];
  /** The newest period of each target that has one. */
  newestPeriods(): ReadonlyMap<string, VerdictPeriod>;
  /**
   * From when on the rounds of a target have verdicts, while those of before an update of the file still get theirs; Infinity if none
   * has one yet, null if all that is kept has.
   */
  verdictsFrom(target: string): number | null;
  /** When the last round of a target was due that had a verdict; null if none had. */
  lastVerdict(target: string): number | null;
  incidents(query: IncidentQuery): readonly PastIncident[];
  incident(id: string): IncidentDetail | null;
}

/** Which incidents: those that were open for a part of the span; the newest first. */
export interface IncidentQuery extends TimeSpan {
  readonly target: string | null;
  readonly isOpen: boolean | null;
  readonly severity?: PastIncident['severity'] | undefined;
  /** Whether their notifications are suppressed. */
  readonly isHeld?: boolean | undefined;
  /** Only those that come after this one in the list. */
  readonly after: { readonly startedAt: number; readonly id: string } | null;
  readonly limit: number;
}
