import type { Clock } from '#kernel/clock.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import type { ServiceStore } from './ports.ts';

export interface RetentionOptions {
  readonly store: Pick<ServiceStore, 'pruneRuns'>;
  /** How long a run is kept, in milliseconds. */
  readonly keepMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

const restMs = 600_000;
const pauseMs = 200;
const runsAtOnce = 200;

/** Deletes runs that are older than they are kept: a few at a time, so that nobody waits for it. Goes on until disposed. */
export function keepRuns({ store, keepMs, clock, log }: RetentionOptions): Disposable {
  let timer = clock.after(pauseMs, prune);

  function prune(): void {
    let deleted = 0;
    try {
      deleted = store.pruneRuns({ before: clock.now() - keepMs, limit: runsAtOnce });
    } catch (error) {
      log.error({ err: error }, `old checks were not deleted: ${messageOf(error)}`);
    }
    timer = clock.after(deleted === 0 ? restMs : pauseMs, prune);
  }

  return { [Symbol.dispose]: () => timer[Symbol.dispose]() };
}
