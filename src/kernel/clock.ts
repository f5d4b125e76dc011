/** Where time comes from. Everything that waits or stamps takes a `Clock`, so a test can run a day in a second. */
export interface Clock {
  /** Wall time in milliseconds since the epoch: for records and schedules, never for durations. */
  now(): number;
  /** Monotonic milliseconds with a fraction: for durations, never for records. */
  elapsed(): number;
  /** Calls `action` once, about `ms` milliseconds from now, unless disposed before. */
  after(ms: number, action: () => void): Disposable;
}

const longestTimerMs = 2 ** 31 - 1;

/** The machine's clock. Its timers keep the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after(ms, action) {
    const timer = setTimeout(action, Math.min(Math.max(ms, 0), longestTimerMs));
    return { [Symbol.dispose]: () => clearTimeout(timer) };
  },
};

/** Resolves after `ms`; rejects with the signal's reason as soon as it is aborted. */
export async function sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const onAbort = () => {
      timer[Symbol.dispose]();
      reject(abortReason(signal));
    };
    const timer = clock.after(ms, () => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
    signal.addEventListener('abort', onAbort, { once: true });
  });
}

const longestNapMs = 60_000;

/** Resolves once the wall clock reads `at` or later. Wakes up every minute to notice that the wall clock was set. */
export async function sleepUntil(clock: Clock, at: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  for (let left = at - clock.now(); left > 0; left = at - clock.now()) {
    await sleep(clock, Math.min(left, longestNapMs), signal);
  }
}

/** The reason an operation's own deadline aborts with; anything else that aborts it is somebody else's wish. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
  readonly ms: number;

  constructor(ms: number) {
    super(`no answer within ${ms} ms`);
    this.ms = ms;
  }
}

export interface Deadline extends Disposable {
  readonly signal: AbortSignal;
  /** True once the deadline itself, not an outer signal, ended the operation. */
  readonly expired: boolean;
}

/** A signal that aborts with a `DeadlineError` after `ms`, or with the outer signal's reason. Dispose it when done. */
export function deadline(clock: Clock, ms: number, outer?: AbortSignal): Deadline {
  const controller = new AbortController();
  const onOuter = () => controller.abort(outer?.reason);
  const timer = clock.after(ms, () => controller.abort(new DeadlineError(ms)));
  if (outer?.aborted === true) onOuter();
  else outer?.addEventListener('abort', onOuter, { once: true });
  return {
    signal: controller.signal,
    get expired() {
      return controller.signal.reason instanceof DeadlineError && outer?.aborted !== true;
    },
    [Symbol.dispose]() {
      timer[Symbol.dispose]();
      outer?.removeEventListener('abort', onOuter);
    },
  };
}

/** Settles as `promise` does, or rejects with the signal's reason, whichever is first. For waits that take no signal. */
export async function orAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    // Nobody waits for it any more, so its failure must not count as unhandled.
    promise.catch(() => {});
    throw abortReason(signal);
  }
  return new Promise<T>((resolve, reject) => {
    const onAbort = () => reject(abortReason(signal));
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

function abortReason(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error('aborted', { cause: signal.reason });
}
