import type { Clock } from '#kernel/clock.ts';

// A round may take as long as its slowest check; after that it will not be stored any more.
const openMs = 300_000;

/**
 * Which runs are under way but not stored yet. What is to follow once a run is stored waits here: a receipt for a result
 * before that could be for something that a crash takes away.
 */
export interface OpenRuns {
  begin(run: string): void;
  /** Does it once the run is stored: at once if it is not under way. Of several under one key only the first is done. */
  afterStored(run: string, key: string, action: () => void): void;
  stored(run: string): void;
  close(): void;
}

export function createOpenRuns(clock: Clock): OpenRuns {
  const open = new Map<string, { readonly actions: Map<string, () => void>; readonly expiry: Disposable }>();

  // Nothing is done for a run that was given up: the nodes, without a receipt, send their results again.
  const end = (run: string) => {
    open.get(run)?.expiry[Symbol.dispose]();
    open.delete(run);
  };

  return {
    begin(run) {
      if (open.has(run)) return;
      open.set(run, { actions: new Map(), expiry: clock.after(openMs, () => end(run)) });
    },
    afterStored(run, key, action) {
      const found = open.get(run);
      if (found === undefined) action();
      else if (!found.actions.has(key)) found.actions.set(key, action);
    },
    stored(run) {
      const actions = [...(open.get(run)?.actions.values() ?? [])];
      end(run);
      for (const action of actions) action();
    },
    close() {
      for (const run of open.keys()) end(run);
    },
  };
}
