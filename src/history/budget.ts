import { dayMs, describeDuration, formatDuration, hourMs } from '#kernel/units.ts';
import type { BudgetFigures, BudgetLeft, Objective } from './reader.ts';
import { type TimeByStatus, uptimeOf } from './verdict-periods.ts';

/** The state of an objective after a period. Time that was not monitored counts as good. */
export function budgetOf(objective: Objective, time: TimeByStatus): BudgetFigures {
  return { ...budgetLeftOf(objective, time.down), uptime: uptimeOf(time) };
}

/** What is left of a budget of which so much was spent. */
export function budgetLeftOf({ ratio, overMs }: Objective, spentMs: number): BudgetLeft {
  const allowedMs = Math.round(allowedIn({ ratio, overMs }, overMs));
  return { ratio, overMs, allowedMs, spentMs, left: 1 - spentMs / allowedMs };
}

/** How long a target may be down in so many milliseconds. */
function allowedIn({ ratio }: Objective, ms: number): number {
  return (1 - ratio) * ms;
}

/** Burn rates that need attention: within minutes and hours, or over days. */
export type BurnPace = 'fast' | 'slow';

/** A budget burns if it is spent `factor` times as fast as it may be, over the long window and over the short one. */
export interface Burn {
  readonly pace: BurnPace;
  readonly factor: number;
  readonly longMs: number;
  readonly shortMs: number;
}

// Of the SRE Workbook ("Alerting on SLOs"), for a period of 30 days: they spend 2%, 5% and 10% of the budget.
const burns: readonly Burn[] = [
  { pace: 'fast', factor: 14.4, longMs: hourMs, shortMs: hourMs / 12 },
  { pace: 'fast', factor: 6, longMs: 6 * hourMs, shortMs: hourMs / 2 },
  { pace: 'slow', factor: 1, longMs: 3 * dayMs, shortMs: 6 * hourMs },
];
const periodOfBurns = 30 * dayMs;

/** The burns to look for, with windows that are the same share of the period as those of 30 days are. */
export function burnsOf({ overMs }: Objective): readonly Burn[] {
  const scale = overMs / periodOfBurns;
  return burns.map((burn) => ({ ...burn, longMs: burn.longMs * scale, shortMs: burn.shortMs * scale }));
}

/** A burn that goes on, with how fast the budget was spent over its long window, and how long the target was down in it. */
export interface BurnState extends Burn {
  readonly speed: number;
  readonly downMs: number;
}

/** The burns that go on at a moment, the fastest first; `downWithin` is how long the target was down in the last so many milliseconds. */
export function burningOf(objective: Objective, downWithin: (ms: number) => number): readonly BurnState[] {
  return burnsOf(objective).flatMap((burn) => {
    const downMs = downWithin(burn.longMs);
    const speed = downMs / allowedIn(objective, burn.longMs);
    if (speed < burn.factor) return [];
    return downWithin(burn.shortMs) / allowedIn(objective, burn.shortMs) < burn.factor
      ? []
      : [{ ...burn, speed, downMs }];
  });
}

/** `99.9% over 30d`. */
export function describeObjective({ ratio, overMs }: Objective): string {
  return `${Number((ratio * 100).toFixed(6))}% over ${formatDuration(overMs)}`;
}

/** `61% left of 99.9% over 30d: 16m 51s of 43m 12s spent`. */
export function describeBudget(budget: BudgetLeft): string {
  const { left, spentMs, allowedMs } = budget;
  const spent = `${describeDuration(spentMs)} of ${describeDuration(allowedMs)} spent`;
  return `${describeLeft(left)} left of ${describeObjective(budget)}: ${spent}`;
}

/** A share that is left in whole percent, rounded down: `61%`, `-12%`. */
export function describeLeft(left: number): string {
  return `${Math.floor(left * 100 + 1e-9)}%`;
}
