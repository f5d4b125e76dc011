import type { Random } from '#kernel/random.ts';

/** Chance that repeats itself: the same seed gives the same run (mulberry32). */
export function seededRandom(seed = 1): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    id: (length) => Array.from({ length }, () => Math.floor(next() * 36).toString(36)).join(''),
    bytes: (length) => Uint8Array.from({ length }, () => Math.floor(next() * 256)),
  };
}
