import { getEnvironmentData, setEnvironmentData, Worker, type WorkerOptions } from 'node:worker_threads';

// koffi aborts the process if its thread is ended while it binds functions: it throws an error, which an ending thread
// cannot. So a thread records that it binds, and is not ended before that is over.

/** Where a thread finds what it shares with the one that started it: how many bindings it is making, or `ending`. */
const key = 'watchpost: bindings';
const ending = -1;
// A thread that hangs in a binding is ended all the same.
const longestBindingMs = 10_000;

const bindingsOf = new Map<Worker, Int32Array<SharedArrayBuffer>>();
let isHoldingAtExit = false;

/** Starts a thread that may be ended at any moment: by `terminate`, or with the process. */
export function startThread(module: URL, options: WorkerOptions): Worker {
  const bindings = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  setEnvironmentData(key, bindings.buffer);
  const worker = new Worker(module, options);
  // It has its copy. What binds in this thread, and other threads, would be counted as that one.
  setEnvironmentData(key, undefined);
  bindingsOf.set(worker, bindings);
  worker.once('exit', () => {
    bindingsOf.delete(worker);
    // It may have crashed in a binding.
    Atomics.store(bindings, 0, 0);
    Atomics.notify(bindings, 0);
  });
  // The process ends its threads after that.
  if (!isHoldingAtExit) process.once('exit', () => bindingsOf.forEach(forbidBindings));
  isHoldingAtExit = true;
  return worker;
}

/** Ends a thread of `startThread` once it makes no binding. */
export async function terminate(worker: Worker): Promise<void> {
  const bindings = bindingsOf.get(worker);
  if (bindings !== undefined) {
    for (let made = forbid(bindings); made > 0; made = forbid(bindings)) {
      if ((await Atomics.waitAsync(bindings, 0, made, longestBindingMs).value) === 'timed-out') break;
    }
  }
  await worker.terminate();
}

function forbidBindings(bindings: Int32Array<SharedArrayBuffer>): void {
  for (let made = forbid(bindings); made > 0; made = forbid(bindings)) {
    if (Atomics.wait(bindings, 0, made, longestBindingMs) === 'timed-out') return;
  }
}

/** Lets the thread make no more bindings, unless it is making some: gives their number. */
function forbid(bindings: Int32Array<SharedArrayBuffer>): number {
  return Atomics.compareExchange(bindings, 0, 0, ending);
}

/** Keeps this thread from being ended until the result is disposed. If it is being ended, that happens in here. */
export function beginBinding(): Disposable {
  const shared = getEnvironmentData(key);
  // Nothing ends the main thread, or a thread that was started otherwise.
  if (!(shared instanceof SharedArrayBuffer)) return { [Symbol.dispose]: () => {} };
  const bindings = new Int32Array(shared);
  for (;;) {
    Atomics.wait(bindings, 0, ending);
    const made = Atomics.load(bindings, 0);
    if (made !== ending && Atomics.compareExchange(bindings, 0, made, made + 1) === made) break;
  }
  return {
    [Symbol.dispose]() {
      Atomics.sub(bindings, 0, 1);
      Atomics.notify(bindings, 0);
    },
  };
}
