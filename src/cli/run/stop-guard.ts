import { Worker } from 'node:worker_threads';

// A system call on a hanging disk blocks the main thread, and then no signal handler runs.

/** How often the main thread has to show that it goes on, in milliseconds. */
export const goesOnEveryMs = 2_000;

/**
 * Ends the process after SIGTERM or SIGINT even if its main thread hangs: then it saves nothing. A thread of its own
 * sleeps as long as the main one calls the result often enough. Nothing is done if there is no Linux, or no way to call its C
 * library.
 */
export function guardStop(stop: AbortSignal): () => void {
  if (process.platform !== 'linux') return () => {};
  const shared = new SharedArrayBuffer(8);
  const state = new Int32Array(shared);
  const worker = new Worker(new URL('./stop-guard-thread.js', import.meta.url), {
    workerData: shared,
    name: 'stop guard',
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1 },
  });
  // A guard that cannot work is no reason to end.
  worker.on('error', () => {});
  worker.unref();
  stop.addEventListener('abort', () => Atomics.store(state, 1, 1), { once: true });
  return () => {
    Atomics.add(state, 0, 1);
    Atomics.notify(state, 0);
  };
}
