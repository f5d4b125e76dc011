/** Where time comes from. Everything that waits or stamps takes a `Clock`, so a test can run a day in a second. */
export interface Clock {
  /** Wall time in milliseconds since the epoch: for records and schedules, never for durations. */
  now(): number;
  /** Monotonic milliseconds with a fraction: for durations, never for records. */
  elapsed(): number;
  /** Calls `action` once, about `ms` milliseconds from now, unless disposed before. */
  after(ms: number, action: () => void): Disposable;
  /** For how many milliseconds in all this thread could not come to what was due. Absent if that is not observed. */
  readonly heldUpMs?: () => number;
  /** For how many milliseconds in all this thread did anything but wait. Absent if that is not known. */
  readonly busyMs?: () => number;
}

const longestTimerMs = 2 ** 31 - 1;

// `performance` counts from the start of a thread.
const bootedMs = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/** The machine's clock. Its timers keep the process alive, and its elapsed time is the same in all threads. */
export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => bootedMs + performance.now(),
  after: (ms, action) => setTimeout(action, Math.min(Math.max(ms, 0), longestTimerMs)),
  busyMs: () => performance.eventLoopUtilization().active,
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

/** Resolves to true after `ms`, or to false as soon as the signal is aborted. */
export async function sleepUnlessAborted(clock: Clock, ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await sleep(clock, ms, signal);
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}

const longestNapMs = 60_000;
/** How far a clock that NTP slews may step back, in milliseconds, without anything being repeated. */
export const clockJitterMs = 1_000;

/** A moment that is noted, or `now` if the clock was ahead when it was; infinity, which is never, stays. */
export const notAhead = (moment: number, now: number): number =>
  moment === Number.POSITIVE_INFINITY ? moment : Math.min(moment, now);

/**
 * Resolves to true once the wall clock reads `at` or later, or to false as soon as it is seen to have been set back to
 * before the wait began. Wakes up every minute to look at it.
 */
export async function sleepUntil(clock: Clock, at: number, signal: AbortSignal): Promise<boolean> {
  signal.throwIfAborted();
  const began = clock.now();
  for (let now = began; now < at; now = clock.now()) {
    if (now < began - clockJitterMs) return false;
    await sleep(clock, Math.min(at - now, longestNapMs), signal);
  }
  return true;
}

/** The reason an operation's own deadline aborts with; any other reason is a cancellation. */
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

/**
 * A signal that aborts with a `DeadlineError` after `ms`, or with the outer signal's reason. If this thread was held up meanwhile, it
 * goes on for as long as that, at most for as long again or 1.5 s: what came in time is read late then. Dispose it when done.
 */
export function deadline(clock: Clock, ms: number, outer?: AbortSignal): Deadline {
  return new RunningDeadline(clock, ms, outer);
}

const leastHeldUpMs = 50;
// Probes are ended from outside two seconds after their time.
const longestExtensionMs = 1_500;

// Several for every check: a class costs a quarter of what an object literal with a getter does.
class RunningDeadline implements Deadline {
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();
  #timer: Disposable;
  readonly #outer: AbortSignal | undefined;
  readonly #onOuter = () => this.#controller.abort(this.#outer?.reason);
  #own: DeadlineError | null = null;

  constructor(clock: Clock, ms: number, outer: AbortSignal | undefined) {
    this.signal = this.#controller.signal;
    this.#outer = outer;
    const heldUpBefore = clock.heldUpMs?.() ?? 0;
    this.#timer = clock.after(ms, () => {
      const expire = () => this.#controller.abort((this.#own = new DeadlineError(ms)));
      const heldUpMs = (clock.heldUpMs?.() ?? 0) - heldUpBefore;
      if (heldUpMs < leastHeldUpMs) expire();
      else this.#timer = clock.after(Math.min(heldUpMs, ms, longestExtensionMs), expire);
    });
    if (outer?.aborted === true) this.#onOuter();
    else outer?.addEventListener('abort', this.#onOuter, onlyOnce);
  }

  get expired(): boolean {
    return this.#own !== null && this.signal.reason === this.#own;
  }

  [Symbol.dispose](): void {
    this.#timer[Symbol.dispose]();
    this.#outer?.removeEventListener('abort', this.#onOuter);
  }
}

const onlyOnce = { once: true } as const;

/** Settles as `promise` does, or rejects with the signal's reason, whichever is first. For waits that take no signal. */
export async function orAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const onAbort = () => reject(abortReason(signal));
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, onlyOnce);
    promise.then(
      (value) => {
        signal.removeEventListener('abort', onAbort);
        resolve(value);
      },
      (error: unknown) => {
        signal.removeEventListener('abort', onAbort);
        reject(error);
      },
    );
  });
}

function abortReason(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error('aborted', { cause: signal.reason });
}

/** Whether `ended` resolves within so many milliseconds; rejects if it does. */
export async function endsWithin(ended: Promise<void>, clock: Clock, ms: number): Promise<boolean> {
  using limit = deadline(clock, ms);
  try {
    await orAbort(ended, limit.signal);
    return true;
  } catch (error) {
    if (limit.expired) return false;
    throw error;
  }
}
