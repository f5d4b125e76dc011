import { budgetLeftOf } from '#history/budget.ts';
import { Downtime } from '#history/downtime.ts';
import type { BudgetLeft, Objective, TargetBudgetLeft } from '#history/reader.ts';
import type { RoundVerdict, VerdictPeriod } from '#history/spells.ts';

/** How the budget of a target stands at a moment. */
export interface BudgetNow {
  readonly budget: BudgetLeft;
  /** How long the target was down in the last so many milliseconds. */
  readonly downWithin: (ms: number) => number;
}

/** How long each target with an objective was down, as running sums: what is asked in each round costs no look into the store. */
export interface Budgets {
  /** From now on a target has this objective, or none. What was counted stays where the period does. */
  keep(target: string, objective: Objective | null): void;
  /** What is stored of a target, the oldest first, counts in place of what was counted so far. */
  fill(target: string, spells: readonly VerdictPeriod[]): void;
  /** Takes in what followed from a round. */
  note(target: string, at: number, verdict: RoundVerdict): void;
  /** Null where the target has no objective. */
  of(target: string, now: number): BudgetNow | null;
  /** What is left of all budgets, or of one. */
  left(now: number, target?: string): readonly TargetBudgetLeft[];
}

export function createBudgets(): Budgets {
  const counted = new Map<string, { readonly objective: Objective; readonly downtime: Downtime }>();

  function of(target: string, now: number): BudgetNow | null {
    const known = counted.get(target);
    if (known === undefined) return null;
    const { objective, downtime } = known;
    return {
      budget: budgetLeftOf(objective, downtime.since(now - objective.overMs, now)),
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
    fill: (target, spells) => counted.get(target)?.downtime.fill(spells),
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
export interface StoredSpells {
  spells(
    since: number,
    targets: ReadonlySet<string>,
  ): Iterable<{ readonly target: string; readonly spells: readonly VerdictPeriod[] }>;
}

/** Counts what was spent of the budgets of these targets before: one look into the store for each. */
export function countBudgets(
  budgets: Budgets,
  store: StoredSpells,
  targets: readonly { readonly name: string; readonly objective: Objective | null }[],
  now: number,
): void {
  const periods = new Map(
    targets.flatMap(({ name, objective }) => (objective === null ? [] : [[name, objective.overMs]])),
  );
  if (periods.size === 0) return;
  const since = now - Math.max(...periods.values());
  for (const { target, spells } of store.spells(since, new Set(periods.keys()))) budgets.fill(target, spells);
}
