import type { OwnRegister } from './own-register.ts';
import type { Register } from './register.ts';

export interface ScheduleMetrics {
  /** When a round was due, and when its checks began on the nodes: wall times in milliseconds since the epoch. */
  roundStarted(dueAt: number, starts: readonly number[]): void;
  roundsSkipped(count: number): void;
}

/** A round that starts later than this after it was due counts as late. */
const lateAfterMs = 1_000;

const lagBounds = [0.001, 0.002, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30];

/** What is observed for each result is in the register of what nodes measure, which looks up no labels. */
export function createScheduleMetrics(own: OwnRegister, register: Register): ScheduleMetrics {
  const lags = register.histogram(
    'watchpost_schedule_lag_seconds',
    'Time from when a check was due to its start on the node.',
    lagBounds,
  );
  const lag = lags.add({});
  const rounds = own.counter(
    'watchpost_rounds_total',
    `Rounds that started on time, started more than ${lateAfterMs / 1_000} s late, or were skipped.`,
    ['outcome'],
  );
  for (const outcome of ['on_time', 'late', 'skipped']) rounds.inc({ outcome }, 0);
  // Looked up once: there are thousands of rounds in a second.
  const [onTime, late] = [rounds.labels({ outcome: 'on_time' }), rounds.labels({ outcome: 'late' })];

  return {
    roundStarted(dueAt, starts) {
      let longestMs = 0;
      for (const startedAt of starts) {
        const lagMs = Math.max(0, startedAt - dueAt);
        lag.observe(lagMs / 1_000);
        if (lagMs > longestMs) longestMs = lagMs;
      }
      (longestMs > lateAfterMs ? late : onTime).inc();
    },
    roundsSkipped: (count) => rounds.inc({ outcome: 'skipped' }, count),
  };
}
