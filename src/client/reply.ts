import type { IncomingHttpHeaders } from 'node:http';
import { failure, type Failure, type FailureCode } from '#checks/index.ts';
import { parseJson } from '#kernel/json.ts';
import { ErrorBody } from '#protocol/errors.ts';

/** What a call to a check service came to. */
export type ServiceReply =
  | {
      readonly kind: 'json';
      readonly body: unknown;
      /** How long the service wants no further starts, in milliseconds, or null. */
      readonly pauseMs: number | null;
    }
  | {
      readonly kind: 'trouble';
      readonly failure: Failure;
      /** True if the service does not know what was asked for. */
      readonly gone: boolean;
      readonly pauseMs: number | null;
    };

/** An answer as HTTP has it. */
export interface ServiceResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Reads an answer. Limits may come with any status, and errors with a page instead of JSON. */
export function readReply({ status, headers, text }: ServiceResponse, pauseMs: number | null): ServiceReply {
  const trouble = (code: FailureCode, message: string, gone = false): ServiceReply => ({
    kind: 'trouble',
    failure: failure('service', code, message),
    gone,
    pauseMs,
  });
  const body = parseJson(text);
  const error = ErrorBody.safeParse(body);
  if (status === 429 || error.data?.error === 'limit_exceeded') {
    return trouble('service_limited', 'the check service allows no more checks at the moment');
  }
  if (error.success) {
    const { error: code, message } = error.data;
    const words = message === undefined ? code : `${code}: ${message}`;
    return trouble('service_answer', `the check service refused: ${words}`, code === 'not_found' || status === 404);
  }
  if (status >= 300 && status < 400) {
    return trouble('service_answer', `the check service redirects elsewhere (status ${status})`);
  }
  if (status < 200 || status >= 300) {
    return trouble('service_answer', `the check service answered with status ${status}`, status === 404);
  }
  if (body === undefined) {
    return trouble('service_answer', `the check service answered with ${kindOf(headers)} instead of JSON`);
  }
  return { kind: 'json', body, pauseMs };
}

/** How long the headers ask us to stay away: `Retry-After` (RFC 9110, section 10.2.3), or an allowance that is used up. */
export function pauseIn(headers: IncomingHttpHeaders, now: number): number | null {
  const after = headers['retry-after'];
  if (after !== undefined) {
    const ms = /^\d+$/.test(after) ? Number(after) * 1_000 : Date.parse(after) - now;
    if (Number.isFinite(ms)) return bounded(ms);
  }
  if (headers['x-ratelimit-remaining'] !== '0') return null;
  const reset = Number(headers['x-ratelimit-reset']);
  if (!Number.isFinite(reset)) return null;
  // Some give the moment in seconds since the epoch, others the seconds until then.
  const ms = reset > 1e9 ? reset * 1_000 - now : reset * 1_000;
  return Math.min(bounded(ms), longestGuessMs);
}

// Whatever it says: a header of a broken proxy must not keep us away for years.
const longestPauseMs = 300_000;
// Until then the whole allowance is back; a part of it may be much earlier, and a refusal would say when.
const longestGuessMs = 10_000;

const bounded = (ms: number) => Math.min(Math.max(ms, 0), longestPauseMs);

function kindOf(headers: IncomingHttpHeaders): string {
  return /html/i.test(headers['content-type'] ?? '') ? 'an HTML page' : 'something else';
}
