import type { Log } from '#kernel/log.ts';
import { messageOf } from '#kernel/errors.ts';
import type { OwnRegister } from './own-register.ts';

/** Asks a part of the program for figures; null if it could not tell. */
export type MetricReader = <T>(name: string, read: () => T) => T | null;

/** A part that fails costs its own metrics only: it is counted and logged, and the scrape goes on. */
export function createAsk(register: OwnRegister, log: Log): MetricReader {
  const failures = register.counter(
    'watchpost_metrics_source_failures_total',
    'How often a part of the program could not provide its metrics.',
    ['source'],
  );
  return (source, read) => {
    try {
      return read();
    } catch (error) {
      failures.inc({ source });
      log.warn({ source, err: error }, `no figures for metrics: ${messageOf(error)}`);
      return null;
    }
  };
}
