import type { Worker } from 'node:worker_threads';
import { type StopGuard, stopGuardPlaces } from '#kernel/stop-watch.ts';
import { startThread, terminate } from '#kernel/threads.ts';

/** How often the main thread has to show that it goes on, in milliseconds. */
export const goesOnEveryMs = 2_000;

/** The guard in the thread that may hang. */
export interface MainStopGuard extends StopGuard {
  /** To be called often enough: the main thread goes on. */
  goesOn(): void;
}

/**
 * Guards the stop of this process until it ends. A thread of its own sleeps as long as the main one goes on; it is there
 * while no other thread relieves it. Null if there is no Linux; nothing is done if there is no way to call its C library.
 */
export function guardStop(stop: AbortSignal): MainStopGuard | null {
  if (process.platform !== 'linux') return null;
  const shared = new SharedArrayBuffer(8);
  const state = new Int32Array(shared);
  const { tick, stopping } = stopGuardPlaces;
  let own: Worker | null = startGuard(shared);
  let others = 0;
  stop.addEventListener('abort', () => Atomics.store(state, stopping, 1), { once: true });

  return {
    shared,
    goesOn() {
      Atomics.add(state, tick, 1);
      Atomics.notify(state, tick);
    },
    relieve() {
      others += 1;
      const ended = own;
      own = null;
      if (ended !== null) void terminate(ended);
      let isOver = false;
      return {
        [Symbol.dispose]() {
          if (isOver) return;
          isOver = true;
          others -= 1;
          if (others === 0) own = startGuard(shared);
        },
      };
    },
  };
}

function startGuard(shared: SharedArrayBuffer): Worker {
  const worker = startThread(new URL('./stop-guard-thread.ts', import.meta.url), {
    workerData: shared,
    name: 'stop guard',
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1 },
  });
  // A guard that cannot work is no reason to end.
  worker.on('error', () => {});
  worker.unref();
  return worker;
}
