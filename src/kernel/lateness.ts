import { createHistogram } from 'node:perf_hooks';
import type { Clock } from './clock.ts';

/** How late a thread came to what was due, in seconds. */
export interface LatenessSummary {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export interface ObservedClock {
  /** The same clock; what waits for it is observed. */
  readonly clock: Clock;
  /** Since this was asked last; zeros if nothing was due. */
  readonly take: () => LatenessSummary;
}

/** Tells how late timers come by those that there are anyway: one of its own would wake an idle process. */
export function observeLateness(clock: Clock): ObservedClock {
  const histogram = createHistogram();
  return {
    clock: observedTimers(clock, (due) => {
      // In nanoseconds, of which there must be one.
      histogram.record(Math.max(1, Math.round((clock.elapsed() - due) * 1e6)));
    }),
    take: () => {
      const seconds = (nanoseconds: number) => (histogram.count === 0 ? 0 : nanoseconds / 1e9);
      const lateness = {
        p50: seconds(histogram.percentile(50)),
        p99: seconds(histogram.percentile(99)),
        max: seconds(histogram.max),
      };
      histogram.reset();
      return lateness;
    },
  };
}

/** The same clock; tells before each timer of it that fires when it was due, on the elapsed time. */
export function observedTimers(clock: Clock, fires: (due: number) => void): Clock {
  return {
    now: () => clock.now(),
    elapsed: () => clock.elapsed(),
    after(ms, action) {
      const due = clock.elapsed() + Math.max(0, ms);
      return clock.after(ms, () => {
        fires(due);
        action();
      });
    },
  };
}
