import type { StartupState } from '#compose/startup-state.ts';
import { createExclusions, type Exclusions } from '#history/exclusions.ts';
import type { Clock } from '#kernel/clock.ts';
import type { Random } from '#kernel/random.ts';
import type { SharedWrite } from '#store/shared-store.ts';
import type { Store } from '#store/sqlite.ts';

export interface ExclusionParts {
  readonly upcoming: StartupState;
  readonly store: Store;
  /** Has pages look up anew how targets were. */
  readonly renewPages: () => void;
  readonly clock: Clock;
  readonly random: Random;
}

/** What operators exclude, and what renews uptime and error budgets after it. */
export function exclusionsOf({ upcoming, store, renewPages, clock, random }: ExclusionParts): {
  readonly exclusions: Exclusions;
  /** Renews what the exclusions among these writes change. */
  readonly committed: (writes: readonly SharedWrite[]) => void;
} {
  const changed = (target: string | null) => {
    renewPages();
    const verdicts = upcoming.watching?.monitor.past;
    if (target === null) verdicts?.countBudgets();
    else verdicts?.changed(target);
  };
  const targets = () =>
    new Set([...upcoming.inForce().targets.map(({ name }) => name), ...store.history.newestPeriods().keys()]);
  return {
    exclusions: createExclusions({ store, targets, changed, clock, random }),
    committed(writes) {
      for (const one of writes)
        if (one.kind === 'exclusion' || one.kind === 'exclusion removed') changed(one.exclusion.target);
    },
  };
}
