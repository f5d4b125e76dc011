import type { Log } from '#kernel/log.ts';
import type { LateObservation } from './target-watch.ts';

export interface LateOptions {
  /** Keeps a vote that came when its round was over. Rejects if it could not be stored. */
  readonly onLate: (late: LateObservation) => Promise<void>;
  readonly log: Log;
}

/** Stores votes that came when their rounds were over, and confirms that; without a confirmation the node sends them again. */
export function createLateKeeper({ onLate, log }: LateOptions) {
  return async (late: LateObservation, confirm: (() => void) | null): Promise<void> => {
    try {
      await onLate(late);
      confirm?.();
    } catch (error) {
      const { target, dueAt, node } = late;
      log.error({ err: error, target, dueAt, node: node.name }, 'cannot store a late result');
    }
  };
}
