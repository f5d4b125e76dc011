import { receive } from '#kernel/receive.ts';
import { singleLine } from '#kernel/text.ts';
import { userAgent } from '#kernel/version.ts';

export interface ChannelCall {
  readonly url: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface CallResponse {
  readonly status: number;
  /** The status in words: `429 Too Many Requests`. */
  readonly line: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The body, as far as it came; its beginning where it is long. */
  readonly text: string;
}

const phasesMs = { lookup: 10_000, connect: 10_000, secureConnect: 10_000, send: 15_000, response: 30_000 };
const mostBytes = 65_536;

/**
 * One HTTP request, without retries, redirects or cookies; every phase has a limit, and the signal ends the whole. Resolves with
 * any answer, rejects where there is none.
 */
export async function call({ url, method, headers, body }: ChannelCall, signal: AbortSignal): Promise<CallResponse> {
  // Loaded with the first call: mail alone does not need it.
  const { default: got } = await import('got');
  const stream = got.stream(url, {
    method,
    headers: { ...headers },
    ...(body === undefined ? {} : { body }),
    signal,
    timeout: phasesMs,
    retry: { limit: 0 },
    followRedirect: false,
    throwHttpErrors: false,
    decompress: false,
  });
  const { bytes, broken } = await receive(stream, mostBytes);
  const { response } = stream;
  // An answer cut off after the status is still an answer: the reader of the body sees that it is not whole.
  if (broken !== null && (signal.aborted || response === undefined)) throw broken.by;
  if (response === undefined) throw new Error('it closed the connection without an answer');
  return {
    status: response.statusCode,
    line: singleLine(`${response.statusCode} ${response.statusMessage ?? ''}`),
    headers: response.headers,
    text: bytes.toString('utf8'),
  };
}

/** Calls the URL of a dead man's switch. Rejects where it does not answer with a status from 200 to 299. */
export async function ping(url: string, signal: AbortSignal): Promise<void> {
  const { status } = await call({ url, method: 'GET', headers: { 'user-agent': userAgent } }, signal);
  if (status < 200 || status > 299) throw new Error(`it answered with status ${status}`);
}
