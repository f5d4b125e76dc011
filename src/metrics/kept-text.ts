import { Readable } from 'node:stream';
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
  readonly body: AsyncIterable<string | Uint8Array>;
}

// Prometheus gives up after ten seconds by default, and then has nothing.
const patienceMs = 1_000;
const oldestMs = 120_000;
// It rests four times as long as it was written, but no longer than Prometheus usually waits between two scrapes.
const restFactor = 4;
const longestRestMs = 15_000;

/** `write` begins to write it; what began after the first `known` series that start at 0 is at 0. */
export function createKeptText(clock: Clock, write: (known: number) => Promise<BegunText>): KeptText {
  let kept: KeptMetrics | null = null;
  let writing: Promise<KeptMetrics> | null = null;

  async function writeAll(known: number): Promise<KeptMetrics> {
    const begunAt = clock.elapsed();
    const { births, body } = await write(known);
    const pieces: Buffer[] = [];
    const packed = Readable.from(body).compose(createGzip({ level: constants.Z_BEST_SPEED }));
    for await (const piece of packed) if (Buffer.isBuffer(piece)) pieces.push(piece);
    const now = clock.elapsed();
    const restsUntil = now + Math.min(longestRestMs, restFactor * (now - begunAt));
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
