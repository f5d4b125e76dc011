import { WatchpostError } from './errors.ts';

export interface PoolOptions {
  /** How many tasks run at the same time. */
  readonly running: number;
  /** How many more may wait; one more is refused. */
  readonly queued: number;
}

export interface Pool {
  /** Runs the task when there is room. Rejects with `node_busy` at once if the queue is full, before the task began. */
  run<T>(task: () => Promise<T>): Promise<T>;
  readonly running: number;
  readonly queued: number;
}

/** Runs one task at a time, in the order in which they came, whatever became of the one before. */
export type SerialRunner = <Result>(task: () => Promise<Result>) => Promise<Result>;

export function createInTurn(): SerialRunner {
  let last: Promise<unknown> = Promise.resolve();
  return async (task) => {
    const result = last.then(task);
    // The caller gets the error.
    last = Promise.allSettled([result]);
    return result;
  };
}

/** Bounded concurrency with a bounded queue: what does not fit is refused, never measured late. */
export function createPool(options: PoolOptions): Pool {
  const waiting = new Set<() => void>();
  let running = 0;

  // A task that ends gives its place to the one that has waited the longest.
  function leave(): void {
    const [next] = waiting;
    if (next === undefined) {
      running -= 1;
      return;
    }
    waiting.delete(next);
    next();
  }

  return {
    async run(task) {
      if (running < options.running) running += 1;
      else if (waiting.size < options.queued) await new Promise<void>((resolve) => waiting.add(resolve));
      else throw new WatchpostError('node_busy', `busy: ${options.running} running and ${options.queued} waiting`);
      try {
        return await task();
      } finally {
        leave();
      }
    },
    get running() {
      return running;
    },
    get queued() {
      return waiting.size;
    },
  };
}
