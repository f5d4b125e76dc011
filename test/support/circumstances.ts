import { plainlyBetween } from '#kernel/clock-steps.ts';
import type { DecisionContext } from '#monitor/judge/decide.ts';

/** Nothing is suspected, nothing is held back, nothing was measured before. */
export const ordinary: DecisionContext = {
  suspected: new Set(),
  recentTimesOf: () => [],
  budgetAt: () => null,
  heldBy: () => null,
  heldAt: () => null,
  serviceSuppression: null,
  elapsedBetween: plainlyBetween,
};
