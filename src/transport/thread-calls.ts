import { orAbort } from '#kernel/clock.ts';
import type { ToNode } from '#node/ports.ts';
import type { NodeCommand, OnStarted, Transport } from '#service/ports.ts';
import type { ThreadWatch } from './suspects.ts';

type Outcome = Awaited<ReturnType<Transport['run']>>;

/** The commands that a thread works on. */
export function createCalls(send: (message: ToNode) => void, watch: ThreadWatch) {
  const waiting = new Map<number, (outcome: Outcome, startedAt: number | null) => void>();
  let nextId = 1;
  return {
    async make(command: NodeCommand, signal: AbortSignal, onStarted?: OnStarted): Promise<Outcome> {
      const id = nextId++;
      const outcome = new Promise<Outcome>((resolve) => {
        waiting.set(id, (seen, startedAt) => {
          if (startedAt !== null) onStarted?.(startedAt);
          resolve(seen);
        });
      });
      try {
        watch.began(id, command);
        send({ kind: 'run', id, command });
        return await orAbort(outcome, signal);
      } catch (error) {
        if (signal.aborted) {
          watch.aborted(id);
          send({ kind: 'abort', id });
        }
        throw error;
      } finally {
        waiting.delete(id);
      }
    },
    get count() {
      return waiting.size;
    },
    complete(id: number, outcome: Outcome, startedAt: number | null): void {
      watch.ended(id);
      waiting.get(id)?.(outcome, startedAt);
    },
    completeAll(outcome: Outcome): void {
      for (const resolve of waiting.values()) resolve(outcome, null);
    },
  };
}
