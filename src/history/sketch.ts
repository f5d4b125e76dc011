import { DDSketch } from '@datadog/sketches-js';
import { ByteReader, ByteWriter } from './bytes.ts';

/**
 * A mergeable summary of times. Every quantile of it lies within 1% of the exact one. Two sketches merged are the sketch of both
 * their times together, whatever the order.
 */
export interface Sketch {
  readonly count: number;
  /** Adds a time in whole microseconds. */
  add(micros: number): void;
  /** Adds all that an encoded sketch holds. */
  merge(encoded: Uint8Array): void;
  /** The time in microseconds that the share `quantile` of all times does not exceed; null if there is no time. */
  quantile(quantile: number): number | null;
  encode(): Uint8Array;
}

// What is stored depends on it: another accuracy is another version of the encoding.
const relativeAccuracy = 0.01;
const version = 1;

export function createSketch(): Sketch {
  const inner = new DDSketch({ relativeAccuracy });

  return {
    get count() {
      return inner.count;
    },
    // Nothing takes no time at all: what was rounded down to nothing counts as a microsecond.
    add: (micros) => inner.accept(Math.max(micros, 1)),
    merge(encoded) {
      forEachBin(encoded, (key, count) => {
        inner.store.add(key, count);
        inner.count += count;
      });
    },
    quantile: (quantile) => (inner.count === 0 ? null : inner.getValueAtQuantile(nearestRank(quantile, inner.count))),
    encode: () => encode(inner),
  };
}

// The library takes the time below a quantile that falls between two: of few times the longest would not be their 99th percentile.
function nearestRank(quantile: number, count: number): number {
  const before = Math.max(Math.ceil(quantile * count), 1) - 1;
  // Half a rank more, for what is divided and multiplied again may be a little less.
  return before === count - 1 ? 1 : (before + 0.5) / (count - 1);
}

/** How many times an encoded sketch holds. */
export function countOf(encoded: Uint8Array): number {
  let sum = 0;
  forEachBin(encoded, (_, count) => {
    sum += count;
  });
  return sum;
}

// The key of the first bin, then for each bin how far it is from the one before, doubled, and 1 more if its count follows.
function encode({ count, store }: DDSketch): Uint8Array {
  if (count === 0) return new Uint8Array(0);
  const bytes = new ByteWriter();
  bytes.unsigned(version);
  let last: number | null = null;
  for (let key = store.minKey; key <= store.maxKey; key += 1) {
    const bin = store.bins[key - store.offset] ?? 0;
    if (bin === 0) continue;
    if (last === null) bytes.signed(key);
    bytes.unsigned((key - (last ?? key)) * 2 + (bin > 1 ? 1 : 0));
    if (bin > 1) bytes.unsigned(bin - 2);
    last = key;
  }
  return bytes.done();
}

// A chart of a month merges more than a thousand sketches of a hundred bins: nothing is made for a bin.
function forEachBin(encoded: Uint8Array, visit: (key: number, count: number) => void): void {
  if (encoded.length === 0) return;
  const bytes = new ByteReader(encoded);
  const found = bytes.unsigned();
  if (found !== version) throw new RangeError(`a sketch of version ${found}, which this program does not know`);
  let key = bytes.signed();
  while (!bytes.atEnd) {
    const word = bytes.unsigned();
    key += Math.floor(word / 2);
    visit(key, word % 2 === 1 ? bytes.unsigned() + 2 : 1);
  }
}
