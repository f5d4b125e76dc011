import type { Clock } from './clock.ts';
import { messageOf } from './errors.ts';
import type { Log } from './log.ts';

export interface RetentionOptions {
  /** What is deleted, for the log: `checks`. */
  readonly what: string;
  /** Deletes some of what is older than `before` in one short piece, and gives how many; 0 says there is nothing left. */
  readonly prune: (before: number) => number;
  /** How long it is kept, in milliseconds. */
  readonly keepMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

const restMs = 600_000;
const pauseMs = 200;

/** Deletes what is older than it is kept: a few at a time, so that nobody waits for it. Goes on until disposed. */
export function forgetOld({ what, prune, keepMs, clock, log }: RetentionOptions): Disposable {
  let timer = clock.after(pauseMs, look);

  function look(): void {
    let deleted = 0;
    try {
      deleted = prune(clock.now() - keepMs);
    } catch (error) {
      log.error({ err: error }, `old ${what} were not deleted: ${messageOf(error)}`);
    }
    timer = clock.after(deleted === 0 ? restMs : pauseMs, look);
  }

  return { [Symbol.dispose]: () => timer[Symbol.dispose]() };
}
