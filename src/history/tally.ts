import { createSketch, type Sketch } from './sketch.ts';

/** How often nodes answered how. `late` counts those, of any status, that came after their round. */
export interface OutcomeCounts {
  readonly up: number;
  readonly down: number;
  readonly unknown: number;
  readonly late: number;
}

/** Times in seconds of the answers that were up. Percentiles lie within 1% of the exact ones; the others are exact. */
export interface Latency {
  readonly count: number;
  readonly min: number;
  readonly mean: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

/** What is kept of the results of a stretch of time. Times are whole microseconds. */
export interface Sums extends OutcomeCounts {
  readonly sumUs: number;
  /** Null if no answer that was up had a time. */
  readonly minUs: number | null;
  readonly maxUs: number | null;
  /** An encoded sketch of the times. */
  readonly sketch: Uint8Array;
}

/** What of a result counts. */
export interface CountedResult {
  readonly status: 'up' | 'down' | 'unknown';
  readonly durationUs: number | null;
  readonly lateAt: number | null;
}

/** Adds up results, one by one or in sums. Whatever way they come in, the outcome is the same. */
export class Tally {
  readonly #answers = { up: 0, down: 0, unknown: 0, late: 0 };
  #sumUs = 0;
  #minUs: number | null = null;
  #maxUs: number | null = null;
  #sketch: Sketch | null = null;

  addResult({ status, durationUs, lateAt }: CountedResult): void {
    this.#answers[status] += 1;
    if (lateAt !== null) this.#answers.late += 1;
    if (status !== 'up' || durationUs === null) return;
    this.#sketch ??= createSketch();
    this.#sketch.add(durationUs);
    this.#addTimes(durationUs, durationUs, durationUs);
  }

  addSums({ up, down, unknown, late, sumUs, minUs, maxUs, sketch }: Sums): void {
    this.#answers.up += up;
    this.#answers.down += down;
    this.#answers.unknown += unknown;
    this.#answers.late += late;
    if (minUs === null || maxUs === null) return;
    this.#sketch ??= createSketch();
    this.#sketch.merge(sketch);
    this.#addTimes(sumUs, minUs, maxUs);
  }

  get answers(): OutcomeCounts {
    return { ...this.#answers };
  }

  get sums(): Sums {
    return {
      ...this.#answers,
      sumUs: this.#sumUs,
      minUs: this.#minUs,
      maxUs: this.#maxUs,
      sketch: this.#sketch?.encode() ?? new Uint8Array(0),
    };
  }

  get latency(): Latency | null {
    const [sketch, min, max] = [this.#sketch, this.#minUs, this.#maxUs];
    const times = this.atQuantiles([0.5, 0.95, 0.99]);
    if (sketch === null || min === null || max === null || times === null) return null;
    const [p50 = 0, p95 = 0, p99 = 0] = times;
    const mean = this.#sumUs / sketch.count / 1e6;
    return { count: sketch.count, min: min / 1e6, mean, p50, p95, p99, max: max / 1e6 };
  }

  /** The times in seconds that these shares of the answers do not exceed, within 1 %; null if no answer had a time. */
  atQuantiles(quantiles: readonly number[]): readonly number[] | null {
    const [sketch, min, max] = [this.#sketch, this.#minUs, this.#maxUs];
    if (sketch === null || min === null || max === null) return null;
    return quantiles.map((one) => Math.min(Math.max(sketch.quantile(one) ?? min, min), max) / 1e6);
  }

  #addTimes(sumUs: number, minUs: number, maxUs: number): void {
    this.#sumUs += sumUs;
    this.#minUs = Math.min(this.#minUs ?? minUs, minUs);
    this.#maxUs = Math.max(this.#maxUs ?? maxUs, maxUs);
  }
}
