import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Clock } from './clock.ts';

// What starting made is garbage by then, and before `keepMallocSmall` returns free memory for the first time.
const afterMs = 25_000;

/**
 * Collects the garbage of this thread's start once it is over. V8 keeps it until the heap has grown by half, which takes long
 * where little is done.
 */
export function collectStartupGarbage(clock: Clock): Disposable {
  return clock.after(afterMs, collectGarbage);
}

/**
 * Collects all garbage of this thread; takes some ten milliseconds. From then on every thread collects when its heap has grown
 * by half: V8 would let garbage grow to three times what is in use and keep the room. Before, that would only delay the start.
 */
export function collectGarbage(): void {
  setFlagsFromString('--heap-growing-percent=50');
  // Flags are those of all threads: one that took it back would do so while another one is between these two lines.
  setFlagsFromString('--expose-gc');
  // Only contexts that are made after the flag have it.
  const collect: unknown = runInNewContext('typeof gc === "function" ? gc : null');
  if (typeof collect === 'function') collect();
}
