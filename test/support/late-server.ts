import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

export interface LateServerOptions {
  readonly protocol: 'http' | 'https' | 'http2';
  readonly cert?: string;
  readonly key?: string;
  /** After how many milliseconds it sends each part: from the request, or the connection for its part of a handshake, then from the part before. */
  readonly delaysMs: readonly number[];
  /**
   * What its parts are: those of a body; the same, and then the end of the connection, which is that of the body; or its part of the TLS
   * handshake.
   */
  readonly late?: 'body' | 'end' | 'handshake';
}

/** What the thread of the server is given: where to write down its moments, and how many parts it has sent. */
export interface LateWorkerData {
  readonly times: SharedArrayBuffer;
  readonly parts: SharedArrayBuffer;
  readonly options: LateServerOptions;
}

/** A result, and what the server wrote down meanwhile: how long each part took to come to the client, in milliseconds. */
export interface LateAnswer<T> {
  readonly result: T;
  /** From when the server had been asked until before it sent the part: the client waited for longer. */
  readonly atLeastMs: readonly number[];
  /** From before the client began until the part was sent, and so was in the client's kernel: the client waited for less. */
  readonly atMostMs: readonly number[];
}

/** A server in a thread of its own that answers late. */
export interface LateServer extends AsyncDisposable {
  readonly port: number;
  /** Once: runs something with this thread held up from when the server is asked until 150 ms after it has sent so many parts. */
  whileHeldUp<T>(parts: number, run: () => Promise<T>): Promise<LateAnswer<T>>;
}

const longerMs = 150;

export async function lateServer(options: LateServerOptions): Promise<LateServer> {
  const times = new SharedArrayBuffer(8 * (1 + 2 * options.delaysMs.length));
  const parts = new SharedArrayBuffer(4);
  const workerData: LateWorkerData = { times, parts, options };
  const worker = new Worker(new URL('late-worker.ts', import.meta.url), { workerData });
  const [port] = (await once(worker, 'message')) as [number];
  return {
    port,
    async whileHeldUp(count, run) {
      const sent = new Int32Array(parts);
      const holdUp = () => {
        for (let have = Atomics.load(sent, 0); have < count; have = Atomics.load(sent, 0)) Atomics.wait(sent, 0, have);
        const until = performance.now() + longerMs;
        while (performance.now() < until);
      };
      worker.once('message', holdUp);
      const began = Number(process.hrtime.bigint()) / 1e6;
      const result = await run();
      worker.off('message', holdUp);
      const [asked = 0, ...moments] = new Float64Array(times);
      return {
        result,
        atLeastMs: moments.filter((_, index) => index % 2 === 0).map((moment) => moment - asked),
        atMostMs: moments.filter((_, index) => index % 2 === 1).map((moment) => moment - began),
      };
    },
    async [Symbol.asyncDispose]() {
      await worker.terminate();
    },
  };
}
