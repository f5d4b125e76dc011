import { finished } from 'node:stream/promises';
import { promisify } from 'node:util';
import { constants, createGzip } from 'node:zlib';
import type { Clock } from '#kernel/clock.ts';

/** All metrics as they were written at some moment. */
export interface WrittenMetrics {
  /** Compressed with gzip (RFC 1952), in pieces. */
  readonly pieces: readonly Buffer[];
  /** How many series that start at 0 there had been when the writing began. */
  readonly births: number;
  /** For how many milliseconds they have been written, from the beginning of that. */
  readonly ageMs: number;
}

/** Who asks for metrics: `known` of the series that start at 0 are not new to it. */
export interface MetricsAsker {
  readonly scraper: string | null;
  readonly known: number;
}

interface KeptMetrics {
  readonly pieces: readonly Buffer[];
  readonly births: number;
  /** To whom it was written. */
  readonly known: number;
  readonly begunAt: number;
  /** From then on the next one who asks has it written anew. */
  readonly restsUntil: number;
  readonly servedTo: Set<string>;
}

/** A text of metrics that takes long to write: it is written once for all who ask meanwhile, and kept for those who cannot wait. */
export interface KeptText {
  /** Waits for what is written for a second, if there is something kept of the last two minutes. Rejects if it cannot be written. */
  take(asker: MetricsAsker): Promise<WrittenMetrics>;
}

/** Metrics that are being written. */
export interface BegunText {
  /** How many series that start at 0 there have been. */
  readonly births: number;
  /** Each part holds until `partsAtOnce` more have begun. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** One is packed or sent, one waits for that, and one is written meanwhile. */
export const partsAtOnce = 3;

// Prometheus gives up after ten seconds by default, and then has nothing.
const patienceMs = 1_000;
const oldestMs = 120_000;
// It rests four times as long as it was written, on a starved machine up to half a minute.
const restFactor = 4;
const longestRestMs = 30_000;
// What a part is packed to comes in one piece.
const pieceBytes = 262_144;

/** `write` begins to write it; what began after the first `known` series that start at 0 is at 0. */
export function createKeptText(clock: Clock, write: (known: number) => Promise<BegunText>): KeptText {
  let kept: KeptMetrics | null = null;
  let writing: Promise<KeptMetrics> | null = null;

  async function writeAll(known: number): Promise<KeptMetrics> {
    const begunAt = clock.elapsed();
    const { births, body } = await write(known);
    const pieces = await packed(body);
    const now = clock.elapsed();
    const tookMs = now - begunAt;
    const restsUntil = now + restMs(tookMs);
    return (kept = { pieces, births, known, begunAt, restsUntil, servedTo: new Set() });
  }

  function begin(known: number): Promise<KeptMetrics> {
    writing ??= writeAll(known).finally(() => (writing = null));
    return writing;
  }

  async function find(asker: MetricsAsker): Promise<KeptMetrics> {
    const now = clock.elapsed();
    const before = kept !== null && now - kept.begunAt < oldestMs && fits(kept, asker) ? kept : null;
    if (before !== null) {
      if (writing === null && now < before.restsUntil) return before;
      const written = await withinPatience(begin(asker.known), clock);
      return written !== null && fits(written, asker) ? written : before;
    }
    let written = await begin(asker.known);
    // What was under way may have been for another one, to whom other series are new.
    while (!fits(written, asker)) written = await begin(asker.known);
    return written;
  }

  return {
    async take(asker) {
      const { pieces, births, begunAt, servedTo } = await find(asker);
      if (asker.scraper !== null) servedTo.add(asker.scraper);
      return { pieces, births, ageMs: clock.elapsed() - begunAt };
    },
  };
}

// What takes longer than that is written half of the time, as long as it is not too old before the next one is there.
function restMs(tookMs: number): number {
  const asLong = Math.min(tookMs, oldestMs - 2.5 * tookMs);
  return Math.max(Math.min(longestRestMs, restFactor * tookMs), asLong);
}

// Without a stream that reads ahead: a part's room is used again.
async function packed(body: BegunText['body']): Promise<readonly Buffer[]> {
  const pieces: Buffer[] = [];
  const gzip = createGzip({ level: constants.Z_BEST_SPEED, chunkSize: pieceBytes });
  gzip.on('data', (piece: Buffer) => pieces.push(piece));
  // The write that it is of rejects, too; without a listener it would end the process.
  gzip.on('error', () => {});
  const write = promisify((part: Uint8Array, done: (error?: Error | null) => void) => gzip.write(part, done));
  let writing = Promise.resolve();
  try {
    for await (const part of body) {
      await writing;
      writing = write(part);
    }
    await writing;
    gzip.end();
    await finished(gzip);
  } finally {
    await Promise.allSettled([writing]);
    gzip.destroy();
  }
  return pieces;
}

// Whether what is at 0 in it is what is new to this one, or was when it had the same before.
function fits({ births, known, servedTo }: KeptMetrics, asker: MetricsAsker): boolean {
  const isNothingNew = known >= births && asker.known >= births;
  return known === asker.known || isNothingNew || (asker.scraper !== null && servedTo.has(asker.scraper));
}

/** Null if it takes longer than anyone is to wait. */
async function withinPatience<Result>(work: Promise<Result>, clock: Clock): Promise<Result | null> {
  const { promise, resolve } = Promise.withResolvers<null>();
  using _timer = clock.after(patienceMs, () => resolve(null));
  return await Promise.race([work, promise]);
}
