import pLimit from 'p-limit';
import { WatchpostError } from './errors.ts';

export interface PoolOptions {
  /** How many tasks run at the same time. */
  readonly running: number;
  /** How many more may wait; one more is refused. */
  readonly queued: number;
}

export interface Pool {
  /** Runs the task when there is room. Rejects with `node_busy` at once where the queue is full, before the task began. */
  run<T>(task: () => Promise<T>): Promise<T>;
  readonly running: number;
  readonly queued: number;
}

/** Runs one task at a time, in the order in which they came, whatever became of the one before. */
export type InTurn = <Result>(task: () => Promise<Result>) => Promise<Result>;

export function createInTurn(): InTurn {
  const limit = pLimit(1);
  return async (task) => limit(task);
}

/** Bounded concurrency with a bounded queue: what does not fit is refused, never measured late. */
export function createPool(options: PoolOptions): Pool {
  const limit = pLimit(options.running);
  return {
    async run(task) {
      if (limit.activeCount >= options.running && limit.pendingCount >= options.queued) {
        throw new WatchpostError('node_busy', `busy: ${options.running} running and ${options.queued} waiting`);
      }
      return limit(task);
    },
    get running() {
      return limit.activeCount;
    },
    get queued() {
      return limit.pendingCount;
    },
  };
}
