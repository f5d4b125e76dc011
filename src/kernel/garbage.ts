import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Clock } from './clock.ts';

// What starting made is garbage by then, and before `keepMallocSmall` returns free memory for the first time.
const afterMs = 25_000;

// In percent of what is in use. V8 would let garbage grow to three times that and keep the room.
const usualGarbage = 50;
let least = usualGarbage;
let allowed: number | null = null;

/** How much garbage there may be of what is in use, in percent, from the next collection on; by default 50. It holds for every thread. */
export function limitGarbage(percent: number): void {
  least = percent;
}

/** What `limitGarbage` said. */
export function leastGarbage(): number {
  return least;
}

/** What holds now, in percent of what is in use; null until the garbage of the start is collected. */
export function allowedGarbage(): number | null {
  return allowed;
}

/** Allows more of it, in percent of what is in use, until the garbage is limited again. */
export function allowGarbage(percent: number): void {
  if (percent === allowed) return;
  allowed = percent;
  setFlagsFromString(`--heap-growing-percent=${percent}`);
}

/**
 * Collects the garbage of this thread's start once it is over. V8 keeps it until the heap has grown by half, which takes long
 * where little is done, and the room for it even longer. Where much comes in, that was done when it began: with 170 MB in use the
 * thread would stand still for a second, and for five with a quarter of a core.
 */
export function collectStartupGarbage(clock: Clock): Disposable {
  return clock.after(afterMs, () => {
    if (allowed === null) collectGarbage({ type: 'major', flavor: 'last-resort' });
  });
}

/**
 * Collects all garbage of this thread; takes some ten milliseconds, and a few times that if room is given back, too. From then on
 * every thread collects when its heap has grown by what is allowed. Before, that would only delay the start.
 */
export function collectGarbage(...how: readonly Readonly<Record<string, string>>[]): void {
  allowGarbage(least);
  // Flags are those of all threads: one that took it back would do so while another one is between these two lines.
  setFlagsFromString('--expose-gc');
  // Only contexts that are made after the flag have it.
  const collect: unknown = runInNewContext('typeof gc === "function" ? gc : null');
  if (typeof collect === 'function') collect(...how);
}
