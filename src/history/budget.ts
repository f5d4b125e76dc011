import { dayMs, describeDuration, formatDuration, hourMs } from '#kernel/units.ts';
import { monthAt, monthSpan } from '#kernel/zoned-time.ts';
import type { BudgetFigures, BudgetLeft, Objective } from './reader.ts';
import type { TimeSpan } from './span.ts';
import { type TimeByStatus, uptimeOf } from './verdict-periods.ts';

/** The longest month: 31 days with the hour that the end of summer time adds. */
export const longestMonthMs = 31 * dayMs + hourMs;

/** The period of an objective that a moment lies in or ends. */
export interface ObjectivePeriod {
  /** The same objective with the length of this period. */
  readonly objective: Objective;
  /** Where the period begins, in milliseconds since the epoch. */
  readonly from: number;
}

export function periodAt(objective: Objective, at: number): ObjectivePeriod {
  if (objective.monthIn === undefined) return { objective, from: at - objective.overMs };
  const { from, to } = monthWith(at - 1, objective.monthIn);
  return { objective: { ...objective, overMs: to - from }, from };
}

// Budgets are asked for in each round, and the time zones of a configuration are few.
const latestMonths = new Map<string, TimeSpan>();

function monthWith(at: number, zone: string): TimeSpan {
  const latest = latestMonths.get(zone);
  if (latest !== undefined && latest.from <= at && at < latest.to) return latest;
  const month = monthSpan(monthAt(at, zone), zone);
  latestMonths.set(zone, month);
  return month;
}

/** The state of an objective after a period. Time that was not monitored counts as good. */
export function budgetOf(objective: Objective, time: TimeByStatus): BudgetFigures {
  return { ...budgetLeftOf(objective, time.down), uptime: uptimeOf(time) };
}

/** What is left of a budget of which so much was spent. */
export function budgetLeftOf({ ratio, overMs, monthIn }: Objective, spentMs: number): BudgetLeft {
  const allowedMs = Math.round(allowedIn({ ratio, overMs }, overMs));
  const objective = { ratio, overMs, ...(monthIn === undefined ? {} : { monthIn }) };
  return { ...objective, allowedMs, spentMs, left: 1 - spentMs / allowedMs };
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

/** The burns to look for, with windows that are the same share of the period as those of 30 days are; a month counts as 30 days. */
export function burnsOf({ overMs, monthIn }: Objective): readonly Burn[] {
  const scale = monthIn === undefined ? overMs / periodOfBurns : 1;
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

/** `99.9% over 30d`, `99.9% over month` or `99.9% over month in Europe/Berlin`. */
export function describeObjective({ ratio, overMs, monthIn }: Objective): string {
  const month = monthIn === 'UTC' ? 'month' : `month in ${monthIn}`;
  return `${Number((ratio * 100).toFixed(6))}% over ${monthIn === undefined ? formatDuration(overMs) : month}`;
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
