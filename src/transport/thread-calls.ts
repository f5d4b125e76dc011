import { orAbort } from '#kernel/clock.ts';
import type { HubMessage } from '#node/ports.ts';
import type { NodeCommand, StartListener, Transport } from '#service/ports.ts';
import type { CrashWatch } from './suspects.ts';

type RunOutcome = Awaited<ReturnType<Transport['run']>>;

/** The commands that a thread works on. */
export function createCalls(send: (message: HubMessage) => void, watch: CrashWatch) {
  const waiting = new Map<number, (outcome: RunOutcome, startedAt: number | null) => void>();
  let nextId = 1;
  return {
    async make(command: NodeCommand, signal: AbortSignal, onStarted?: StartListener): Promise<RunOutcome> {
      const id = nextId++;
      const outcome = new Promise<RunOutcome>((resolve) => {
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
    complete(id: number, outcome: RunOutcome, startedAt: number | null): void {
      watch.ended(id);
      waiting.get(id)?.(outcome, startedAt);
    },
    completeAll(outcome: RunOutcome): void {
      for (const resolve of waiting.values()) resolve(outcome, null);
    },
  };
}
