import { type CallAnswer, type ApiCaller, createCaller } from './call.ts';
import { CheckServiceError } from './errors.ts';
import type { CallerLimits, CheckNode, CheckRequest, CheckState, NodeHealth, CheckOutcome } from './shapes.ts';

// The package exports this as "watchpost/client". It needs `fetch`, and runs in Node, browsers, Deno and Bun.

export { CheckServiceError, type CheckServiceErrorDetails } from './errors.ts';
export type * from './shapes.ts';

export interface CheckServiceOptions {
  /** Where the service is, such as `https://checks.example.com`. */
  readonly url: string;
  /** A token of `service.tokens`, if starting a check needs one. */
  readonly token?: string;
  /** For each call, in milliseconds. Default: 10 s. */
  readonly timeoutMs?: number;
  /** Default: the global one. */
  readonly fetch?: typeof fetch;
}

export interface CallOptions {
  /** Ends the call; it rejects with the reason of the signal. */
  readonly signal?: AbortSignal;
}

export interface WaitOptions extends CallOptions {
  /** How long all of it may take, in milliseconds; then `timeout`. Default: two minutes, more than any check takes. */
  readonly withinMs?: number;
}

/** The result of a node that has finished. */
export interface FinishedResult {
  readonly node: CheckNode;
  readonly outcome: CheckOutcome;
}

/** Every call rejects with a `CheckServiceError`. Only a start is never repeated; waiting goes on if the service is away for a moment. */
export interface CheckServiceApi {
  /** Starts a check. */
  start(request: CheckRequest, options?: CallOptions): Promise<CheckState>;
  /** The results so far. */
  get(id: string, options?: CallOptions): Promise<CheckState>;
  /** Each node's result, as soon as it is there, until all have finished. */
  results(id: string, options?: WaitOptions): AsyncGenerator<FinishedResult, void, undefined>;
  /** Waits until all nodes have finished. */
  finished(id: string, options?: WaitOptions): Promise<CheckState>;
  /** Starts a check, and waits until all nodes have finished. */
  check(request: CheckRequest, options?: WaitOptions): Promise<CheckState>;
  /** All nodes, also those that are offline. */
  nodes(options?: CallOptions): Promise<readonly NodeHealth[]>;
  /** What this caller may start, and how much of it is left. */
  limits(options?: CallOptions): Promise<CallerLimits>;
}

const usualTimeoutMs = 10_000;
const usualWaitMs = 120_000;
// The service answers after 25 s at the latest.
const longestPollSeconds = 20;
const retryMs = 1_000;

export function createCheckServiceClient(options: CheckServiceOptions): CheckServiceApi {
  const { url, token, timeoutMs = usualTimeoutMs, fetch: ask = globalThis.fetch } = options;
  const call = createCaller({ url, token, timeoutMs, fetch: async (...args) => ask(...args) });

  const start: CheckServiceApi['start'] = async (request, { signal } = {}) =>
    stateIn((await call({ path: '/api/v1/checks', body: request, signal })).body);

  const finishedBy = async (id: string, deadline: CheckDeadline) => {
    for await (const state of statesOf(call, id, deadline)) if (state.state === 'finished') return state;
    throw new CheckServiceError('invalid_answer', 'the check never finished');
  };

  return {
    start,
    finished: async (id, wait) => finishedBy(id, deadlineOf(wait)),
    get: async (id, { signal } = {}) => stateIn((await call({ path: pathOf(id), signal })).body),
    async *results(id, wait) {
      const seen = new Set<number>();
      for await (const { results } of statesOf(call, id, deadlineOf(wait))) {
        for (const [position, { node, outcome }] of results.entries()) {
          if (outcome === null || seen.has(position)) continue;
          seen.add(position);
          yield { node, outcome };
        }
      }
    },
    async check(request, wait) {
      const deadline = deadlineOf(wait);
      try {
        return await finishedBy((await start(request, deadline)).id, deadline);
      } catch (error) {
        throw deadline.failureOf(error);
      }
    },
    async nodes({ signal } = {}) {
      const body = part<{ nodes: NodeHealth[] }>((await call({ path: '/api/v1/nodes', signal })).body, 'nodes');
      return body.nodes;
    },
    limits: async ({ signal } = {}) =>
      part<CallerLimits>((await call({ path: '/api/v1/limits', signal })).body, 'checks'),
  };
}

/** What ends waiting: the signal of the caller, and the time that all of it may take. */
interface CheckDeadline {
  readonly signal: AbortSignal;
  /** What to reject with: `timeout` if the time is over. */
  readonly failureOf: (error: unknown) => unknown;
}

function deadlineOf({ signal, withinMs = usualWaitMs }: WaitOptions = {}): CheckDeadline {
  const limit = AbortSignal.timeout(withinMs);
  return {
    signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
    failureOf: (error) =>
      signal?.aborted !== true && limit.aborted && error === limit.reason
        ? new CheckServiceError('timeout', `the check did not finish within ${withinMs / 1_000} s`, { cause: error })
        : error,
  };
}

/** The states of a check, each one newer, until all nodes have finished. */
async function* statesOf(
  call: ApiCaller,
  id: string,
  { signal, failureOf }: CheckDeadline,
): AsyncGenerator<CheckState, void, undefined> {
  let version: string | null = null;
  try {
    for (;;) {
      const seconds: number = version === null ? 0 : longestPollSeconds;
      const path = `${pathOf(id)}?wait=${seconds}`;
      const asked = call({ path, version, waitMs: seconds * 1_000, signal });
      const answer: CallAnswer | null = await unlessAway(asked, signal);
      if (answer?.body === undefined) {
        // Whatever is between us may answer at once if the service would wait.
        await pause(retryMs, signal);
        continue;
      }
      ({ version } = answer);
      const state = stateIn(answer.body);
      yield state;
      if (state.state === 'finished') return;
    }
  } catch (error) {
    throw failureOf(error);
  }
}

// A service that restarts or is crowded has the check still.
async function unlessAway<Answer>(answer: Promise<Answer>, signal: AbortSignal): Promise<Answer | null> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof CheckServiceError) || !isPassing(error)) throw error;
    await pause((error.retryAfterSeconds ?? 0) * 1_000, signal);
    return null;
  }
}

const isPassing = ({ code, status }: CheckServiceError) =>
  code === 'unreachable' || code === 'timeout' || status === 429 || (status ?? 0) >= 502;

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(timer);
      reject(asError(signal.reason));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}

const asError = (reason: unknown) => (reason instanceof Error ? reason : new Error('aborted', { cause: reason }));

const pathOf = (id: string) => `/api/v1/checks/${encodeURIComponent(id)}`;

const stateIn = (body: unknown) => part<CheckState>(body, 'results');

// What answers is the service, or at least has this part of its answer.
function part<Shape extends object>(body: unknown, key: keyof Shape & string): Shape {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  if (typeof body === 'object' && body !== null && key in body) return body as Shape;
  throw new CheckServiceError('invalid_answer', `the answer has no "${key}"`);
}
