import type { Clock } from '#kernel/clock.ts';
import { onTick } from '#kernel/ticks.ts';

/** Whether calls can be heard, and since when without a break. */
export interface ReceptionState extends Disposable {
  /** Since when, in milliseconds since the epoch; null while they cannot. */
  since(): number | null;
  /** What was heard could not be kept, or could be again. */
  kept(isKept: boolean): void;
}

export interface ReceptionOptions {
  readonly clock: Clock;
  /** Since when our own connectivity is not in doubt, or null while it is lost. */
  readonly connectedSince: () => number | null;
}

const tickMs = 5_000;
const longestGapMs = 15_000;

/** A machine that slept, a program that stood still and a clock that was set are breaks too. */
export function createHearing({ clock, connectedSince }: ReceptionOptions): ReceptionState {
  let since = clock.now();
  let lastLook = { now: clock.now(), elapsed: clock.elapsed() };
  let isKept = true;
  let timer = onTick(clock, tickMs, tick);

  function look(): void {
    const now = clock.now();
    const elapsed = clock.elapsed();
    const gap = Math.max(Math.abs(now - lastLook.now), elapsed - lastLook.elapsed);
    lastLook = { now, elapsed };
    if (gap > longestGapMs) since = now;
  }

  function tick(): void {
    look();
    timer = onTick(clock, tickMs, tick);
  }

  return {
    since() {
      look();
      const connected = connectedSince();
      return isKept && connected !== null ? Math.max(since, connected) : null;
    },
    kept(now) {
      if (now && !isKept) since = clock.now();
      isKept = now;
    },
    [Symbol.dispose]: () => timer[Symbol.dispose](),
  };
}
