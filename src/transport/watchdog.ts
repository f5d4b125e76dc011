import type { Clock } from '#kernel/clock.ts';
import { onTick } from '#kernel/ticks.ts';

/** Looks again and again whether the other side has said something. */
export interface Watchdog extends Disposable {
  heard(): void;
}

/**
 * Calls back at each look with how many there were in a row without a word. Looks are counted and not time: between two of
 * them this thread has read what had arrived, so that no thread counts as silent because we ourselves were held up.
 */
export function startWatchdog(clock: Clock, everyMs: number, onLook: (looks: number) => void): Watchdog {
  let looks = 0;
  let timer = onTick(clock, everyMs, look);

  function look(): void {
    looks += 1;
    timer = onTick(clock, everyMs, look);
    onLook(looks);
  }

  return {
    heard() {
      looks = 0;
    },
    [Symbol.dispose]: () => timer[Symbol.dispose](),
  };
}
