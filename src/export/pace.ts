import type { Random } from '#kernel/random.ts';

const spread = 0.2;

/** How long to wait after so many failures in a row: `firstMs`, doubled by each one, at most `longestMs`, give or take 20 %. */
export function pauseMs(failures: number, firstMs: number, longestMs: number, random: Random): number {
  const ms = Math.min(firstMs * 2 ** Math.max(0, failures - 1), longestMs);
  return Math.round(ms * (1 - spread + 2 * spread * random.next()));
}
