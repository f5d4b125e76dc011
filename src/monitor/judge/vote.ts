import type { NodeInfo, Outcome } from '#checks/index.ts';

/** What one node answered in a run. */
export interface Vote {
  readonly node: NodeInfo;
  readonly outcome: Outcome;
}
