import type { Clock } from './clock.ts';

/** So many in so long; also the most at once. */
export interface Rate {
  readonly count: number;
  readonly perMs: number;
}

/** A bucket for each key, with memory that is bounded. */
export interface Buckets {
  fullInMs(key: string): number;
  left(key: string): number;
  /** How long until `cost` can be taken; what costs more than a whole bucket passes when the bucket is full. */
  waitMs(key: string, cost: number): number;
  take(key: string, cost: number): void;
}

const mostBuckets = 50_000;

// The generic cell rate algorithm: a bucket is the one moment at which it will be full again, and a full one needs no memory.
export function createBuckets({ count, perMs }: Rate, clock: Clock): Buckets {
  const fullAt = new Map<string, number>();
  const eachMs = perMs / count;
  const fullInMs = (key: string) => Math.max(0, (fullAt.get(key) ?? 0) - clock.elapsed());

  return {
    fullInMs,
    left: (key: string) => Math.max(0, Math.floor((perMs - fullInMs(key)) / eachMs + 1e-9)),
    waitMs: (key: string, cost: number) => Math.max(0, fullInMs(key) + Math.min(cost, count) * eachMs - perMs - 1e-6),
    take(key: string, cost: number): void {
      const at = Math.max(fullAt.get(key) ?? 0, clock.elapsed()) + cost * eachMs;
      fullAt.delete(key);
      fullAt.set(key, at);
      if (fullAt.size > mostBuckets) forget();
    },
  };

  // First those that are full, then those that were used the longest ago.
  function forget(): void {
    for (const [key, at] of fullAt) if (at <= clock.elapsed()) fullAt.delete(key);
    for (const key of fullAt.keys()) {
      if (fullAt.size <= mostBuckets / 2) break;
      fullAt.delete(key);
    }
  }
}
