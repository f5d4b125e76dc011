import type { NodeInfo, Outcome } from '#checks/index.ts';
import type { Schedule } from '#schedule/schedule.ts';
import type { NodeOutcome } from './runs.ts';

/** A round of a target as its nodes saw it. Times are wall time. */
export interface CollectedRound {
  readonly dueAt: number;
  /** When the first of its checks began. */
  readonly startedAt: number;
  readonly votes: readonly NodeOutcome[];
  /** Set if the round was over long ago. */
  readonly late?: LateRounds | undefined;
  /** True if the round had ended without a verdict before: these votes complete it. */
  readonly isRevision?: true | undefined;
}

/** Why something arrives only now, and when it may be notified: more of it may be on its way. */
export interface LateRounds {
  readonly why: string;
  readonly notifyFrom: number;
}

export interface RoundSink {
  /** Whether these votes are enough for a verdict. A round without one stays open for votes that a node may still hold. */
  hasVerdict(votes: readonly NodeOutcome[]): boolean;
  /** Resolves once all its consequences are handled. */
  round(round: CollectedRound): Promise<void> | void;
  /** So many rounds were due and began nowhere. */
  skipped(count: number): void;
}

/** What became of a vote. `reopened`: its round had ended without a verdict, and waits for `endLate`. */
export type VoteReception = 'taken' | 'repeated' | 'reopened' | 'late' | 'uncalled';

/** Moments in milliseconds since the epoch: every round up to `over` has ended, and every round up to `decided` has its verdict. */
export interface RoundMarks {
  readonly over: number;
  readonly decided: number;
  /** Until then nodes may go on with what another process assigned to them. Absent if they do not. */
  readonly continuedUntil?: number;
}

/** The rounds of one target, from the first vote on each to its end. */
export interface TargetRounds {
  /** That of the target. */
  readonly name: string;
  /** The nodes that have a vote from now on. */
  voters: readonly NodeInfo[];
  isVoter(node: string): boolean;
  /** Every due time of this node after `since` is kept or skipped; null if none is. */
  keeps(node: string, since: number | null): void;
  /** `isCalled` says whether the node was assigned this target; a late result is late at any node. */
  take(node: NodeInfo, dueAt: number, outcome: Outcome, startedAt: number, isCalled?: boolean): VoteReception;
  /** This node does not come to what is due then. */
  passOver(node: string, dueAt: number): void;
  /**
   * Ends the rounds that are complete or past their limit, in the order in which they were due, up to `until`. `readUntil`: what came
   * later was not read yet, so no vote that came by then is missing. Returns from when on it may end another one although no vote comes
   * and its nodes are as before.
   */
  judge(now: number, until: number, readUntil?: number): number;
  /** Due times of rounds up to `until` that have a vote and wait to be judged, for a caller that judges several targets in order. */
  openUntil(until: number): readonly number[];
  /** Ends such a round now, with the votes that it has, and says why it comes so late; earlier rounds without a vote are dropped. */
  endLate(dueAt: number, late: LateRounds): Promise<void> | void;
  /** Every round up to this moment has its verdict, or never gets one. */
  readonly decided: number;
  /** Whether rounds ended without a verdict since then. */
  readonly isUndecided: boolean;
  /** Drops what waits for `endLate` up to this moment: what comes for it from now on is late. */
  abandon(until: number): void;
  /** The next due time whose round is not over. */
  readonly awaited: number;
  /** Every round up to this moment is over, whatever comes. */
  letGo(moment: number): void;
  /** From now on it is due by this schedule. */
  follow(schedule: Schedule): void;
  /** Has the round over that is the next one, and that has no vote, and counts it; false if it is another one. */
  leaveOut(dueAt: number): boolean;
  /** The wall clock was set back: what is due from now on has not been. */
  reset(now: number): void;
  /**
   * This process saw nothing of the time until `moment`: its rounds have as long as if they were due then. Where nodes kept what they
   * saw meanwhile, no round of that time is over for it.
   */
  extendDeadline(moment: number, isKept: boolean): void;
}
