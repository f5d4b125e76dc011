import type { Budget, Objective } from './reader.ts';
import { type TimeByStatus, uptimeOf } from './spells.ts';

/** How an objective stands after a period that was spent so. Time that nobody watched is taken to have been good. */
export function budgetOf({ ratio, overMs }: Objective, time: TimeByStatus): Budget {
  const allowedMs = (1 - ratio) * overMs;
  return { ratio, overMs, uptime: uptimeOf(time), allowedMs, spentMs: time.down, left: 1 - time.down / allowedMs };
}
