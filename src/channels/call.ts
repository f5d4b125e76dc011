import got, { type Response } from 'got';
import { userAgent } from '#kernel/version.ts';

export interface Call {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

const phasesMs = { lookup: 10_000, connect: 10_000, secureConnect: 10_000, send: 15_000, response: 30_000 };

/**
 * One HTTP request, without retries, redirects or cookies; every phase has a limit, and the signal ends the whole. Resolves with
 * any answer, rejects where there is none.
 */
export async function call(
  { url, method, headers, body }: Call,
  signal: AbortSignal,
): Promise<Pick<Response<string>, 'statusCode' | 'statusMessage' | 'headers'>> {
  return got(url, {
    method,
    headers: { ...headers },
    ...(body === undefined ? {} : { body }),
    signal,
    timeout: phasesMs,
    retry: { limit: 0 },
    followRedirect: false,
    throwHttpErrors: false,
    decompress: false,
    responseType: 'text',
  });
}

/** Calls the URL of a dead man's switch. Rejects where it does not answer with a status from 200 to 299. */
export async function ping(url: string, signal: AbortSignal): Promise<void> {
  const { statusCode } = await call({ url, method: 'GET', headers: { 'user-agent': userAgent } }, signal);
  if (statusCode < 200 || statusCode > 299) throw new Error(`it answered with status ${statusCode}`);
}
