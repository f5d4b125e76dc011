import { CheckServiceError } from './errors.ts';

export interface CallerOptions {
  readonly url: string;
  readonly token: string | undefined;
  readonly timeoutMs: number;
  readonly fetch: typeof fetch;
}

/** One call to the service. */
export interface Call {
  readonly path: string;
  readonly signal: AbortSignal | undefined;
  /** Sent as JSON by POST; a call without it is a GET. */
  readonly body?: object;
  /** The version of the answer that the caller has. */
  readonly version?: string | null;
  /** How long the service may wait before it answers, besides the time of the call. */
  readonly waitMs?: number;
}

export interface CallAnswer {
  /** Undefined if the caller has this version. */
  readonly body: unknown;
  readonly version: string | null;
}

export type ApiCaller = (call: Call) => Promise<CallAnswer>;

/** Makes calls. They reject with a `CheckServiceError`, or with the reason of the caller's signal. */
export function createCaller({ url, token, timeoutMs, fetch: ask }: CallerOptions): ApiCaller {
  const base = url.replace(/\/+$/, '');
  return async ({ path, signal, body, version = null, waitMs = 0 }) => {
    signal?.throwIfAborted();
    const limit = AbortSignal.timeout(timeoutMs + waitMs);
    try {
      const response = await ask(`${base}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        // Nothing is sent to another place, a token least of all.
        redirect: 'manual',
        // The cache of a browser would ask with a version of its own.
        cache: 'no-store',
        headers: {
          accept: 'application/json',
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(version === null ? {} : { 'if-none-match': version }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
      });
      if (response.status === 304) {
        await response.body?.cancel();
        return { body: undefined, version };
      }
      if (isRedirect(response)) throw redirected(base, response);
      return { body: read(response, await response.text()), version: response.headers.get('etag') };
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof CheckServiceError) throw error;
      const late = limit.aborted;
      const message = late
        ? `no answer within ${(timeoutMs + waitMs) / 1_000} s`
        : `cannot reach ${base}${reasonOf(error)}`;
      throw new CheckServiceError(late ? 'timeout' : 'unreachable', message, { cause: error });
    }
  };
}

// A browser does not show the status.
const isRedirect = ({ type, status }: Response) => type === 'opaqueredirect' || (status >= 300 && status < 400);

function redirected(base: string, { status, headers }: Response): CheckServiceError {
  const to = headers.get('location');
  const message = `${base} redirects${to === null ? '' : ` to ${to}`}: name the address of the service itself`;
  return new CheckServiceError('invalid_answer', message, { status: status === 0 ? undefined : status });
}

// Node says "fetch failed", and why in the cause. The message itself may repeat a header, and so the token.
function reasonOf(error: unknown): string {
  const { cause } = error instanceof Error ? error : {};
  return cause instanceof Error && cause.message !== '' ? `: ${cause.message}` : '';
}

function read({ status, ok, headers }: Response, text: string): unknown {
  const body = parsed(text);
  const said = isObject(body) ? body : {};
  if (ok && body !== undefined && typeof said['error'] !== 'string') return body;
  const after = headers.get('retry-after');
  const retryAfterSeconds = after !== null && /^\d{1,9}$/.test(after) ? Number(after) : undefined;
  if (typeof said['error'] !== 'string') {
    const message = `status ${status} without the JSON of the check service`;
    throw new CheckServiceError('invalid_answer', message, { status, retryAfterSeconds });
  }
  const message = typeof said['message'] === 'string' ? said['message'] : said['error'];
  throw new CheckServiceError(said['error'], message, { status, retryAfterSeconds });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
