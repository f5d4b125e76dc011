import { type Clock, deadline, sleep } from '#kernel/clock.ts';
import { messageOf } from '#kernel/errors.ts';
import { postBeat } from './beat-post.ts';

/** A ping of a run. */
export interface BeatCall {
  /** `start`, or the exit code. */
  readonly what: string;
  readonly body: string;
}

export interface BeatCallOptions {
  /** The address of the job, as good as a password. */
  readonly url: string;
  /** The name of the run. */
  readonly run: string;
  /** For how long it is tried, in milliseconds. */
  readonly triesForMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const attemptMs = 10_000;
const firstWaitMs = 500;
const longestWaitMs = 15_000;

/** Sends it, again and again while that can help. Resolves to null, or to why it was not sent, including an abort. */
export async function callUntilHeard({ what, body }: BeatCall, options: BeatCallOptions): Promise<string | null> {
  const { url, run, triesForMs, clock, signal } = options;
  const address = `${url.replace(/\/+$/, '')}/${what}?rid=${run}`;
  const end = clock.elapsed() + triesForMs;
  try {
    for (let waitMs = firstWaitMs; ; waitMs = Math.min(2 * waitMs, longestWaitMs)) {
      const tried = await callOnce(address, body, clock, signal);
      if (tried === null) return null;
      const pauseMs = Math.max(waitMs, tried.waitMs);
      if (!tried.mayHelp || clock.elapsed() + pauseMs > end) return tried.why;
      await sleep(clock, pauseMs, signal);
    }
  } catch (error) {
    if (signal.aborted) return 'interrupted';
    throw error;
  }
}

interface BeatRejection {
  readonly why: string;
  /** Whether the same call may be heard later. */
  readonly mayHelp: boolean;
  /** How long the other side wants us to wait. */
  readonly waitMs: number;
}

async function callOnce(url: string, body: string, clock: Clock, outer: AbortSignal): Promise<BeatRejection | null> {
  using limit = deadline(clock, attemptMs, outer);
  try {
    const { statusCode = 0, headers } = await postBeat(url, body, limit.signal);
    if ((statusCode >= 200 && statusCode < 300) || statusCode === 304) return null;
    const seconds = Number(headers['retry-after'] ?? 0);
    return {
      why: statusCode === 404 ? 'unknown address (404): check the secret in the URL' : `it answered ${statusCode}`,
      mayHelp: statusCode >= 500 || statusCode === 429 || statusCode === 408,
      waitMs: Number.isFinite(seconds) ? Math.min(seconds * 1_000, 60_000) : 0,
    };
  } catch (error) {
    outer.throwIfAborted();
    if (limit.expired) return { why: `no answer within ${attemptMs / 1_000} s`, mayHelp: true, waitMs: 0 };
    return { why: withoutAddress(error, url), mayHelp: true, waitMs: 0 };
  }
}

const withoutAddress = (error: unknown, url: string) => messageOf(error).replaceAll(url, '[secret]');
