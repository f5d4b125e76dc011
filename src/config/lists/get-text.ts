import { messageOf } from '#kernel/errors.ts';
import { receive } from '#kernel/receive.ts';
import type { Deadline } from '#kernel/clock.ts';
import { userAgent } from '#kernel/version.ts';

interface GetOptions {
  readonly headers: Readonly<Record<string, string>>;
  /** PEM certificates to trust instead of the usual ones, or null. */
  readonly ca: string | null;
  readonly limit: Deadline;
  readonly limitMs: number;
  readonly mostBytes: number;
}

/** A response, or why there is none. */
export type GetResult = { readonly status: number | null; readonly text: string } | { readonly trouble: string };

/** A GET whose redirects are not followed. Rejects only with what is no fault of the request. */
export async function getText(
  url: string,
  { headers, ca, limit, limitMs, mostBytes }: GetOptions,
  signal: AbortSignal,
): Promise<GetResult> {
  const { default: got, RequestError } = await import('got');
  const stream = got.stream(url, {
    headers: { accept: 'application/json', 'user-agent': userAgent, ...headers },
    ...(ca === null ? {} : { https: { certificateAuthority: ca } }),
    signal: limit.signal,
    retry: { limit: 0 },
    followRedirect: false,
    throwHttpErrors: false,
  });
  const { bytes, isMore, broken } = await receive(stream, mostBytes);
  if (broken !== null) {
    if (limit.expired) return { trouble: `no answer within ${limitMs / 1_000} s` };
    if (signal.aborted || broken.by instanceof RequestError) return { trouble: messageOf(broken.by) };
    throw broken.by;
  }
  if (isMore) return { trouble: `its answer has more than ${mostBytes} bytes` };
  return { status: stream.response?.statusCode ?? null, text: bytes.toString('utf8') };
}
