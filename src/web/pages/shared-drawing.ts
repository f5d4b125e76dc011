import type { Clock } from '#kernel/clock.ts';

// However many load a page, at most a tenth of the time goes into drawing it.
const restFactor = 10;
const mostKept = 8;

/** Draws something. It calls `begins` if it had to wait for something before. */
type Draw<Drawing> = (begins: () => void) => Promise<Drawing>;

/** Draws something for all who ask while it is drawn, and for ten times as long as that took. */
export function createSharedDrawing<Drawing>(clock: Clock): (key: string, draw: Draw<Drawing>) => Promise<Drawing> {
  const known = new Map<string, Promise<Drawing>>();

  async function drawNew(key: string, draw: Draw<Drawing>): Promise<Drawing> {
    let begun = clock.elapsed();
    const forget = () => void known.delete(key);
    const drawing = draw(() => (begun = clock.elapsed()));
    if (known.size < mostKept) known.set(key, drawing);
    try {
      return await drawing;
    } finally {
      const tookMs = clock.elapsed() - begun;
      if (known.get(key) === drawing && tookMs > 0) clock.after(restFactor * tookMs, forget);
      else if (known.get(key) === drawing) forget();
    }
  }

  return async (key, draw) => known.get(key) ?? drawNew(key, draw);
}
