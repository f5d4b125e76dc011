import type { TargetBudgetLeft } from '#history/reader.ts';
import type { MetricReader } from './ask.ts';
import type { Register } from './register.ts';

/** What each target with an objective promises, and what is left of its budget; asked for at each scrape. */
export function createObjectiveMetrics(
  register: Register,
  ask: MetricReader,
  budgets: () => readonly TargetBudgetLeft[],
): { refresh(): void } {
  const ratio = register.gauge(
    'watchpost_objective_ratio',
    'The share of the period in which the target is not to be down.',
  );
  const period = register.gauge('watchpost_objective_period_seconds', 'The period that the objective is about.');
  const left = register.gauge(
    'watchpost_objective_budget_left_ratio',
    'The share of the error budget that is left; negative if overspent.',
  );
  return {
    refresh() {
      for (const family of [ratio, period, left]) family.clear();
      for (const budget of ask('budgets', budgets) ?? []) {
        const labels = { target: budget.target };
        ratio.add(labels).value = budget.ratio;
        period.add(labels).value = budget.overMs / 1_000;
        left.add(labels).value = budget.left;
      }
    },
  };
}
