import type { Clock } from '#kernel/clock.ts';
import { type Budgets, countBudgets } from './judge/budgets.ts';
import type { ShownVerdict } from './judge/round-record.ts';
import type { Target } from './judge/target.ts';
import type { Vote } from './judge/vote.ts';
import type { RoundHandler } from './rounds.ts';
import type { MonitorStore } from './store.ts';

/** What becomes known about rounds of the past: their verdicts, and what that does to budgets. */
export interface PastVerdicts extends Disposable {
  /** All targets there are from now on. */
  setTargets(targets: readonly Target[]): void;
  /** The verdict of a round that is not judged any more, by the statuses of its votes; null for an unknown target. */
  verdictOf(target: string, dueAt: number, statuses: readonly Vote['outcome']['status'][]): ShownVerdict | null;
  /** The stored verdict periods of a target have become others: its budget is counted anew, soon. */
  changed(target: string): void;
  /** Counts all budgets anew. */
  countBudgets(): void;
}

export interface PastOptions {
  readonly budgets: Budgets;
  readonly store: Pick<MonitorStore, 'periods'>;
  readonly rounds: () => Pick<RoundHandler, 'verdictOf'>;
  readonly clock: Clock;
}

// Rounds of the past come by the thousand: one count serves them all.
const togetherMs = 1_000;

export function createPast({ budgets, store, rounds, clock }: PastOptions): PastVerdicts {
  let targets: ReadonlyMap<string, Target> = new Map();
  let waiting = new Set<string>();
  let timer: Disposable | null = null;
  const count = (some: readonly Target[]) => countBudgets(budgets, store, some, clock.now());

  function countWaiting(): void {
    timer = null;
    const some = [...waiting].flatMap((name) => targets.get(name) ?? []);
    waiting = new Set();
    count(some);
  }

  return {
    setTargets: (next) => void (targets = new Map(next.map((target) => [target.name, target]))),
    verdictOf(name, dueAt, statuses) {
      const target = targets.get(name);
      return target === undefined ? null : rounds().verdictOf(target, dueAt, statuses);
    },
    changed(target) {
      waiting.add(target);
      timer ??= clock.after(togetherMs, countWaiting);
    },
    countBudgets: () => count([...targets.values()]),
    [Symbol.dispose]: () => timer?.[Symbol.dispose](),
  };
}
