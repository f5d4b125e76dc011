import { retryAfterMs } from '#channels/http-receipt.ts';
import { call } from '#channels/call.ts';
import { sign } from '#channels/signature.ts';
import { type Clock, deadline, endsWithin, sleepUnlessAborted } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import type { Random } from '#kernel/random.ts';
import type { Secret } from '#kernel/secret.ts';
import { userAgent } from '#kernel/version.ts';
import type { ExportEvents } from './export-events.ts';
import { LineQueue } from './line-queue.ts';
import { pauseMs } from './pace.ts';
import { reasonOf, withoutSecrets } from './reason.ts';
import type { ResultSink } from './result-sink.ts';

/** Where batches go and how often. */
export interface ResultWebhookSettings {
  readonly url: Secret;
  /** What signs every batch; null for none. */
  readonly secret: Secret | null;
  readonly headers: Readonly<Record<string, Secret>>;
  readonly everyMs: number;
}

export interface ResultWebhookOptions extends ResultWebhookSettings {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly events: ExportEvents;
}

interface LineBatch {
  readonly id: string;
  readonly lines: readonly string[];
}

const mostWaiting = 8_388_608;
const mostLines = 1_000;
const mostBytes = 1_048_576;
const attemptMs = 30_000;
const firstPauseMs = 1_000;
const longestPauseMs = 60_000;
const longestAskedMs = 600_000;
const lookMs = 250;
const stopMs = 2_000;
// RFC 9110, 15.5.9; RFC 8470; RFC 6585.
const retried = new Set([408, 425, 429]);

/**
 * Posts lines in batches, one after the other and each until it is accepted or refused for good; meanwhile lines wait in memory, and the
 * oldest are dropped beyond a bound.
 */
export function startResultWebhook(options: ResultWebhookOptions): ResultSink<ResultWebhookSettings> {
  const { clock, random, log, events } = options;
  const queue = new LineQueue(mostWaiting);
  const stopping = new AbortController();
  const { signal } = stopping;
  let settings: ResultWebhookSettings = options;
  let changed = new AbortController();
  let waitingSince: number | null = null;
  let failures = 0;
  let dropped = 0;

  function drop(count: number): void {
    if (count === 0) return;
    dropped += count;
    events.dropped('webhook', count);
  }

  /** Gives how long to wait before another attempt; null if the batch is done with. */
  async function attempt(batch: LineBatch, outer?: AbortSignal): Promise<number | null> {
    using limit = deadline(clock, attemptMs, outer);
    const used = settings;
    try {
      const response = await send(batch, used, clock, limit.signal);
      const { status, line } = response;
      if (status >= 200 && status < 300) {
        events.sent('webhook', batch.lines.length, clock.now());
        if (failures > 0) log.info({ dropped }, 'results are sent to the webhook again');
        failures = 0;
        dropped = 0;
        return null;
      }
      report(`it answered ${line}`, used);
      if (status < 500 && !retried.has(status)) {
        drop(batch.lines.length);
        return null;
      }
      // What this one asks for says nothing about another.
      if (used !== settings) return 0;
      return Math.max(pause(), Math.min(retryAfterMs(response, clock.now()) ?? 0, longestAskedMs));
    } catch (error) {
      if (outer?.aborted === true) return pause();
      report(reasonOf(error, limit.signal), used);
      return used === settings ? pause() : 0;
    }
  }

  function report(reason: string, { url, headers }: ResultWebhookSettings): void {
    events.failed('webhook');
    if (failures === 0)
      log.warn(
        { reason: withoutSecrets(reason, [url, ...Object.values(headers)]) },
        'cannot send results to the webhook',
      );
    failures += 1;
  }

  const pause = () => pauseMs(failures, firstPauseMs, longestPauseMs, random);
  const isDue = () =>
    queue.length >= mostLines || (waitingSince !== null && clock.elapsed() - waitingSince >= settings.everyMs);

  function next(): LineBatch | null {
    const lines = queue.take(mostLines, mostBytes);
    waitingSince = queue.length === 0 ? null : clock.elapsed();
    return lines.length === 0 ? null : { id: random.id(16), lines };
  }

  async function work(): Promise<void> {
    let batch: LineBatch | null = null;
    let waitMs = lookMs;
    while (await waits(waitMs)) {
      if (batch === null && isDue()) batch = next();
      const again: number | null = batch === null ? null : await attempt(batch, signal);
      if (again === null) batch = null;
      waitMs = again ?? (isDue() ? 0 : lookMs);
    }
    // Once more for what waits, as far as it is taken; then it is given up.
    using last = deadline(clock, stopMs);
    for (batch ??= next(); batch !== null; batch = next()) {
      if ((await attempt(batch, last.signal)) === null) continue;
      drop(batch.lines.length);
      break;
    }
    drop(queue.take(Infinity, Infinity).length);
  }

  /** Resolves to false to end. Another address need not wait for what the one before asked for. */
  async function waits(ms: number): Promise<boolean> {
    await sleepUnlessAborted(clock, ms, AbortSignal.any([signal, changed.signal]));
    return !signal.aborted;
  }

  const ended = work();
  return {
    add(lines) {
      waitingSince ??= clock.elapsed();
      drop(queue.add(lines));
    },
    reconfigure(next) {
      settings = next;
      failures = 0;
      changed.abort(new Error('the export of results changes'));
      changed = new AbortController();
    },
    async stop() {
      stopping.abort(new Error('the export of results stops'));
      await endsWithin(ended, clock, 2 * stopMs);
    },
  };
}

async function send(
  { id, lines }: LineBatch,
  { url, secret, headers }: ResultWebhookSettings,
  clock: Clock,
  signal: AbortSignal,
) {
  const body = lines.join('');
  const signature = secret === null ? null : sign(body, Math.floor(clock.now() / 1_000), secret.reveal());
  const all = {
    'content-type': 'application/x-ndjson',
    'user-agent': userAgent,
    'watchpost-id': id,
    ...(signature !== null && { 'watchpost-signature': signature }),
    ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value.reveal()])),
  };
  return call({ url: url.reveal(), method: 'POST', headers: all, body }, signal);
}
