import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { z } from 'zod';
import { call, type CallResponse } from '#channels/call.ts';
import { retryAfterMs } from '#channels/http-receipt.ts';
import { type Clock, deadline, endsWithin, sleepUnlessAborted } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import type { Random } from '#kernel/random.ts';
import type { Secret } from '#kernel/secret.ts';
import { userAgent } from '#kernel/version.ts';
import type { ExportEvents } from './export-events.ts';
import { pauseMs } from './pace.ts';
import { reasonOf, withoutSecrets } from './reason.ts';

/** Metrics encoded for OTLP/HTTP with JSON, and how many data points they are. */
export interface OtlpBody {
  readonly body: string;
  readonly points: number;
}

export interface OtlpOptions {
  readonly url: Secret;
  readonly headers: Readonly<Record<string, Secret>>;
  readonly everyMs: number;
  readonly timeoutMs: number;
  readonly compression: 'gzip' | 'none';
  /** All metrics as they are now. */
  readonly collect: () => AsyncIterable<OtlpBody>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly events: ExportEvents;
}

const compress = promisify(gzip);
const firstPauseMs = 1_000;
const longestPauseMs = 60_000;
const longestAskedMs = 3_600_000;
const stopMs = 2_000;
// OTLP 1.10, "Retryable Response Codes"; others must not be retried.
const retried = new Set([429, 502, 503, 504]);

const Answer = z.object({
  partialSuccess: z
    .object({
      rejectedDataPoints: z.union([z.string(), z.number()]).default(0),
      errorMessage: z.string().default(''),
    })
    .optional(),
});

/** `http://host:4318` is `http://host:4318/v1/metrics`; an address with a path is as it is. */
function metricsUrl(text: string): string {
  const url = new URL(text);
  if (url.pathname === '/') url.pathname = '/v1/metrics';
  return url.href;
}

/**
 * Pushes all metrics regularly, and once more at the end. What fails is retried until the next time comes: counters are cumulative, so
 * that nothing but points of time is lost.
 */
export function startOtlp(options: OtlpOptions): { stop(): Promise<void> } {
  const { everyMs, collect, clock, random, log, events } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const url = metricsUrl(options.url.reveal());
  let lastReported = '';
  let notBefore = 0;

  function report(trouble: string): void {
    const shown = withoutSecrets(trouble, [options.url, ...Object.values(options.headers)]);
    if (shown === lastReported) return;
    if (shown === '') log.info('metrics are pushed over OTLP again');
    else log.warn({ reason: shown }, 'cannot push metrics over OTLP');
    lastReported = shown;
  }

  /** Gives how long to wait before the same is sent again; null if it is not to be. */
  async function attempt({ body, points }: OtlpBody, failures: number, outer: AbortSignal): Promise<number | null> {
    using limit = deadline(clock, options.timeoutMs, outer);
    const pause = () => pauseMs(failures + 1, firstPauseMs, longestPauseMs, random);
    try {
      const response = await post(url, body, options, limit.signal);
      if (response.status >= 200 && response.status < 300) {
        accepted(response, points);
        return null;
      }
      failed(`it answered ${response.line}`);
      if (!retried.has(response.status)) {
        events.dropped('otlp', points);
        return null;
      }
      const askedMs = Math.min(retryAfterMs(response, clock.now()) ?? 0, longestAskedMs);
      notBefore = clock.elapsed() + askedMs;
      return askedMs > 0 ? askedMs : pause();
    } catch (error) {
      if (outer.aborted) return null;
      failed(reasonOf(error, limit.signal));
      return pause();
    }
  }

  function failed(reason: string): void {
    events.failed('otlp');
    report(reason);
  }

  function accepted({ text }: CallResponse, points: number): void {
    const { rejectedDataPoints = 0, errorMessage = '' } = partialOf(text) ?? {};
    const rejected = Math.min(points, Number(rejectedDataPoints) || 0);
    if (points > rejected) events.sent('otlp', points - rejected, clock.now());
    if (rejected > 0) events.dropped('otlp', rejected);
    report(rejected > 0 || errorMessage !== '' ? `it rejected ${rejected} data points: ${errorMessage}` : '');
  }

  async function push(endsAt: number, outer: AbortSignal): Promise<void> {
    for await (const body of collect()) {
      for (let failures = 0; ; failures += 1) {
        const againMs = await attempt(body, failures, outer);
        if (againMs === null) break;
        if (clock.elapsed() + againMs >= endsAt || !(await sleepUnlessAborted(clock, againMs, outer))) {
          // The next push has newer values of the same.
          events.dropped('otlp', body.points);
          return;
        }
      }
    }
  }

  async function work(): Promise<void> {
    let next = clock.elapsed() + everyMs * random.next();
    while (await sleepUnlessAborted(clock, Math.max(next, notBefore) - clock.elapsed(), signal)) {
      next = Math.max(next, clock.elapsed()) + everyMs;
      await push(next, signal);
    }
    using last = deadline(clock, stopMs);
    if (clock.elapsed() >= notBefore) await push(0, last.signal);
  }

  const ended = work();
  return {
    async stop() {
      stopping.abort(new Error('the push of metrics stops'));
      await endsWithin(ended, clock, 2 * stopMs);
    },
  };
}

async function post(
  url: string,
  body: string,
  { headers, compression }: Pick<OtlpOptions, 'headers' | 'compression'>,
  signal: AbortSignal,
): Promise<CallResponse> {
  const all = {
    'content-type': 'application/json',
    'user-agent': userAgent,
    ...(compression === 'gzip' && { 'content-encoding': 'gzip' }),
    ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value.reveal()])),
  };
  const bytes = compression === 'gzip' ? await compress(body) : body;
  return call({ url, method: 'POST', headers: all, body: bytes }, signal);
}

function partialOf(text: string): z.output<typeof Answer>['partialSuccess'] {
  try {
    return Answer.safeParse(JSON.parse(text)).data?.partialSuccess;
  } catch {
    // What is no such message says nothing about rejected points.
    return undefined;
  }
}
