import type { Clock } from '#kernel/clock.ts';

/** Waits for nodes that have not reported yet since the hub's connection to NATS is new. */
export interface Arrivals {
  /** The connection is a new one. */
  begin(): void;
  /** Resolves once the node has reported or had time enough to; at once if it has. Rejects with the signal's reason. */
  wait(node: string, signal: AbortSignal): Promise<void>;
  /** A node has reported. */
  look(): void;
}

export function createArrivals(clock: Clock, arrivalMs: number, isUnheard: (node: string) => boolean): Arrivals {
  const waiting = new Set<() => void>();
  let since = clock.elapsed();
  const leftMs = () => since + arrivalMs - clock.elapsed();

  return {
    begin() {
      since = clock.elapsed();
    },
    look() {
      for (const wake of waiting) wake();
    },
    async wait(node, signal) {
      const isOver = () => signal.aborted || !isUnheard(node) || leftMs() <= 0;
      if (!isOver()) {
        await new Promise<void>((resolve) => {
          const wake = () => {
            if (!isOver()) return;
            limit[Symbol.dispose]();
            waiting.delete(wake);
            signal.removeEventListener('abort', wake);
            resolve();
          };
          const limit = clock.after(leftMs(), wake);
          waiting.add(wake);
          signal.addEventListener('abort', wake);
        });
      }
      signal.throwIfAborted();
    },
  };
}
