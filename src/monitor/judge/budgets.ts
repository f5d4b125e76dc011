import { budgetLeftOf, periodAt } from '#history/budget.ts';
import { Downtime } from '#history/downtime.ts';
import type { BudgetLeft, Objective, TargetBudgetLeft } from '#history/reader.ts';
import type { RoundVerdict, VerdictPeriod } from '#history/verdict-periods.ts';

/** How the budget of a target stands at a moment. */
export interface BudgetNow {
  readonly budget: BudgetLeft;
  /** How long the target was down in the last so many milliseconds. */
  readonly downWithin: (ms: number) => number;
}

/** How long each target with an objective was down, as running sums: what is asked in each round costs no look into the store. */
export interface Budgets {
  /** From now on a target has this objective, or none. What was counted stays if the period does. */
  keep(target: string, objective: Objective | null): void;
  /** What is stored of a target, the oldest first, counts in place of what was counted so far. */
  fill(target: string, periods: readonly VerdictPeriod[]): void;
  /** Takes in what followed from a round. */
  note(target: string, at: number, verdict: RoundVerdict): void;
  /** Null if the target has no objective. */
  of(target: string, now: number): BudgetNow | null;
  /** What is left of all budgets, or of one. */
  left(now: number, target?: string): readonly TargetBudgetLeft[];
}

export function createBudgets(): Budgets {
  const counted = new Map<string, { readonly objective: Objective; readonly downtime: Downtime }>();

  function of(target: string, now: number): BudgetNow | null {
    const known = counted.get(target);
    if (known === undefined) return null;
    const { downtime } = known;
    const { objective, from } = periodAt(known.objective, now);
    return {
      budget: budgetLeftOf(objective, downtime.since(from, now)),
      downWithin: (ms) => downtime.since(now - ms, now),
    };
  }

  return {
    keep(target, objective) {
      if (objective === null) {
        counted.delete(target);
        return;
      }
      const known = counted.get(target);
      const downtime = known?.objective.overMs === objective.overMs ? known.downtime : new Downtime(objective.overMs);
      counted.set(target, { objective, downtime });
    },
    fill: (target, periods) => counted.get(target)?.downtime.fill(periods),
    note: (target, at, verdict) => counted.get(target)?.downtime.note(at, verdict),
    of,
    left(now, one) {
      return [...(one === undefined ? counted.keys() : [one])].flatMap((target) => {
        const found = of(target, now);
        return found === null ? [] : [{ target, ...found.budget }];
      });
    },
  };
}

/** What is stored of how targets were. */
export interface StoredPeriods {
  periods(
    since: number,
    targets: ReadonlySet<string>,
  ): Iterable<{ readonly target: string; readonly periods: readonly VerdictPeriod[] }>;
}

/** Counts what was spent of the budgets of these targets before: one look into the store for each. */
export function countBudgets(
  budgets: Budgets,
  store: StoredPeriods,
  targets: readonly { readonly name: string; readonly objective: Objective | null }[],
  now: number,
): void {
  const windows = new Map(
    targets.flatMap(({ name, objective }) => (objective === null ? [] : [[name, objective.overMs]])),
  );
  if (windows.size === 0) return;
  const since = now - Math.max(...windows.values());
  for (const { target, periods } of store.periods(since, new Set(windows.keys()))) budgets.fill(target, periods);
}
