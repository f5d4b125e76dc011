import type { MetricReader } from './ask.ts';
import type { OwnRegister } from './own-register.ts';

/** How a list of targets at an address has come in since the start. */
export interface ListFigures {
  /** Its name under `targets_from`. */
  readonly name: string;
  readonly failures: number;
  /** When it was had last, in milliseconds since the epoch; null if it was not. */
  readonly hadAt: number | null;
  /** Whether it was had when it was asked last, and makes a good configuration. */
  readonly isGood: boolean;
}

/** Whether the target lists are available; read at each scrape. */
export function createListMetrics(
  register: OwnRegister,
  ask: MetricReader,
  lists: () => readonly ListFigures[],
): { refresh(): void } {
  const up = register.gauge(
    'watchpost_target_list_up',
    '1 if the last fetch of the list succeeded and the configuration with it is valid, else 0.',
    ['list'],
  );
  const hadAt = register.gauge(
    'watchpost_target_list_last_success_timestamp_seconds',
    'When the list was last fetched; absent if never since the start.',
    ['list'],
  );
  const failures = register.counter('watchpost_target_list_failures_total', 'How often fetching the list failed.', [
    'list',
  ]);
  return {
    refresh() {
      for (const metric of [up, hadAt, failures]) metric.reset();
      for (const list of ask('lists', lists) ?? []) {
        const labels = { list: list.name };
        up.set(labels, Number(list.isGood));
        if (list.hadAt !== null) hadAt.set(labels, list.hadAt / 1_000);
        failures.inc(labels, list.failures);
      }
    },
  };
}
