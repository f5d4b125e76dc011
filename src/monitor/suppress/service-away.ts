import { type ElapsedBetween, plainlyBetween } from '#kernel/clock-steps.ts';
import type { Failure } from '#checks/index.ts';
import type { Vote } from '../judge/vote.ts';

/** Whether the service that runs the checks is away: every vote of every round is its own failure. */
export interface ServiceAway {
  /** Takes a round; gives since when it is away and why once that has lasted, or since when it is back, with a null reason; else null. */
  observe(votes: readonly Vote[], dueAt: number): { readonly since: number; readonly reason: string | null } | null;
  /** Why no target can be judged now, or null. */
  readonly reason: string | null;
  /** The clock was set back to `now`. */
  setBack(now: number): void;
}

/** Notified after `afterMs` milliseconds; null for never. `wasAway` says that it was notified before the program was started. */
export function createServiceAway(
  afterMs: () => number | null,
  wasAway: boolean,
  elapsedBetween: ElapsedBetween = plainlyBetween,
): ServiceAway {
  let since: number | null = null;
  let reason: string | null = null;
  let isReported = wasAway;

  return {
    observe(votes, dueAt) {
      if (votes.length === 0) return null;
      const trouble = serviceFailureIn(votes);
      if (trouble === null) {
        since = null;
        reason = null;
        if (!isReported) return null;
        isReported = false;
        return { since: dueAt, reason: null };
      }
      since ??= dueAt;
      reason = trouble.message;
      const limit = afterMs();
      if (isReported || limit === null || elapsedBetween(since, dueAt) < limit) return null;
      isReported = true;
      return { since, reason };
    },
    get reason() {
      return reason;
    },
    setBack(now) {
      if (since !== null) since = Math.min(since, now);
    },
  };
}

// The first failure, if all of them are the service's.
function serviceFailureIn(votes: readonly Vote[]): Failure | null {
  let first: Failure | null = null;
  for (const { outcome } of votes) {
    if (outcome.status !== 'unknown' || outcome.failure.source !== 'service') return null;
    first ??= outcome.failure;
  }
  return first;
}
