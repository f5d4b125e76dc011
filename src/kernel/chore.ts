import type { Clock } from './clock.ts';
import { messageOf } from './errors.ts';
import type { Log } from './log.ts';

export interface ChoreOptions {
  /** Does one short piece of it; false says that nothing is left for now. */
  readonly step: () => boolean;
  /** What is wrong when a piece fails, for the log: `old checks were not deleted`. */
  readonly trouble: string;
  /** How long others have the floor between two pieces, and how long it rests when nothing is left. Default: 200 ms and 10 minutes. */
  readonly pauseMs?: number;
  readonly restMs?: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** Does a task in pieces that hold up nothing. Goes on until disposed; a piece that fails is retried after the rest. */
export function startChore({ step, trouble, pauseMs = 200, restMs = 600_000, clock, log }: ChoreOptions): Disposable {
  let timer = clock.after(pauseMs, look);

  function look(): void {
    let isMore = false;
    try {
      isMore = step();
    } catch (error) {
      log.error({ err: error }, `${trouble}: ${messageOf(error)}`);
    }
    timer = clock.after(isMore ? pauseMs : restMs, look);
  }

  return { [Symbol.dispose]: () => timer[Symbol.dispose]() };
}
