import type { NodeInfo, Outcome } from '#checks/index.ts';

/** What one node answered in a run. */
export interface Vote {
  readonly node: NodeInfo;
  readonly outcome: Outcome;
  /** When the check began on the node, by our clock in milliseconds since the epoch, if that is known. */
  readonly startedAt?: number | undefined;
}
