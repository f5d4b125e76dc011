import type { LookupFunction } from 'node:net';
import { receive } from '#kernel/receive.ts';
import { singleLine } from '#kernel/text.ts';
import { userAgent } from '#kernel/version.ts';

export interface ChannelCall {
  readonly url: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** The address to connect to, if the host was looked up and judged before. */
  readonly address?: { readonly address: string; readonly family: 4 | 6 };
}

export interface CallResponse {
  readonly status: number;
  /** The status in words: `429 Too Many Requests`. */
  readonly line: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The body as far as it was received, at most 64 KiB. */
  readonly text: string;
}

const phasesMs = { lookup: 10_000, connect: 10_000, secureConnect: 10_000, send: 15_000, response: 30_000 };
const mostBytes = 65_536;

/**
 * Sends one HTTP request without retries, redirects or cookies; every phase has a deadline, and the signal aborts it. Resolves with
 * any response; rejects if there is none.
 */
export async function call(
  { url, method, headers, body, address }: ChannelCall,
  signal: AbortSignal,
): Promise<CallResponse> {
  // Loaded on first use: an installation that only sends mail does not need it.
  const { default: got } = await import('got');
  const stream = got.stream(url, {
    method,
    headers: { ...headers },
    ...(body === undefined ? {} : { body }),
    ...(address === undefined ? {} : { dnsLookup: lookupOf(address) }),
    signal,
    timeout: phasesMs,
    retry: { limit: 0 },
    followRedirect: false,
    throwHttpErrors: false,
    decompress: false,
  });
  const { bytes, broken } = await receive(stream, mostBytes);
  const { response } = stream;
  // A response cut off after its status still counts; the code that parses the body finds it incomplete.
  if (broken !== null && (signal.aborted || response === undefined)) throw broken.by;
  if (response === undefined) throw new Error('it closed the connection without an answer');
  return {
    status: response.statusCode,
    line: singleLine(`${response.statusCode} ${response.statusMessage ?? ''}`),
    headers: response.headers,
    text: bytes.toString('utf8'),
  };
}

/** Calls the URL of a dead man's switch. Rejects unless the status is from 200 to 299. */
export async function ping(url: string, signal: AbortSignal): Promise<void> {
  const { status } = await call({ url, method: 'GET', headers: { 'user-agent': userAgent } }, signal);
  if (status < 200 || status > 299) throw new Error(`it answered with status ${status}`);
}

/** A lookup as `node:net` calls it, which gives this address for every name. */
const lookupOf =
  ({ address, family }: NonNullable<ChannelCall['address']>): LookupFunction =>
  (_host, options, done) =>
    options.all === true ? done(null, [{ address, family }]) : done(null, address, family);
