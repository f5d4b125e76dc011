import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** A server in a thread of its own that accepts connections and resets them at once. */
export interface ResettingServer extends AsyncDisposable {
  readonly port: number;
  /** Runs something with the event loop held up from each connect(2) until the connection has been made and reset. */
  whileLate<T>(run: () => Promise<T>): Promise<T>;
}

export async function resettingServer(): Promise<ResettingServer> {
  const shared = new SharedArrayBuffer(4);
  const resets = new Int32Array(shared);
  const worker = new Worker(new URL('resetting-worker.ts', import.meta.url), { workerData: shared });
  const [port] = (await once(worker, 'message')) as [number];
  const hold = () => {
    const before = Atomics.load(resets, 0);
    // The address is literal: connect(2) is called in the next tick.
    process.nextTick(() => process.nextTick(() => Atomics.wait(resets, 0, before)));
  };
  return {
    port,
    async whileLate(run) {
      subscribe('net.client.socket', hold);
      try {
        return await run();
      } finally {
        unsubscribe('net.client.socket', hold);
      }
    },
    async [Symbol.asyncDispose]() {
      await worker.terminate();
    },
  };
}
