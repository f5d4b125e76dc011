import { orAbort } from '#kernel/clock.ts';
import type { HubMessage, NodeMessage } from '#node/ports.ts';
import type { RunListener } from '#protocol/run-listener.ts';
import type { NodeCommand, Transport } from '#service/ports.ts';
import type { CrashWatch } from './suspects.ts';

type RunOutcome = Awaited<ReturnType<Transport['run']>>;

interface ThreadCall {
  readonly listener: RunListener;
  readonly complete: (outcome: RunOutcome, startedAt: number | null) => void;
}

/** The commands that a thread works on. */
export function createCalls(send: (message: HubMessage) => void, watch: CrashWatch) {
  const waiting = new Map<number, ThreadCall>();
  let nextId = 1;
  return {
    async make(command: NodeCommand, signal: AbortSignal, listener: RunListener = {}): Promise<RunOutcome> {
      const id = nextId++;
      const outcome = new Promise<RunOutcome>((resolve) => {
        waiting.set(id, {
          listener,
          complete(seen, startedAt) {
            if (startedAt !== null) listener.onStarted?.(startedAt);
            resolve(seen);
          },
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
    hear(message: Extract<NodeMessage, { kind: 'interim' | 'outcome' }>): void {
      const call = waiting.get(message.id);
      if (message.kind === 'interim') return call?.listener.onInterim?.(message.detail);
      watch.ended(message.id);
      call?.complete(message.outcome, message.startedAt);
    },
    completeAll(outcome: RunOutcome): void {
      for (const { complete } of waiting.values()) complete(outcome, null);
    },
  };
}
