import type { OwnRegister } from './own-register.ts';

/** Counts what is sent elsewhere: results to a file or a webhook, data points to a collector. */
export interface ExportMetrics {
  sent(to: 'file' | 'webhook' | 'otlp', count: number, at: number): void;
  dropped(to: 'file' | 'webhook' | 'otlp', count: number): void;
  failed(to: 'file' | 'webhook' | 'otlp'): void;
}

export function createExportMetrics(register: OwnRegister): ExportMetrics {
  const sent = register.counter(
    'watchpost_exported_total',
    'Results written to a file or sent to a webhook, and data points sent over OTLP.',
    ['to'],
  );
  const dropped = register.counter(
    'watchpost_export_dropped_total',
    'Results and data points that were given up: refused, or the oldest of too many that waited.',
    ['to'],
  );
  const failures = register.counter('watchpost_export_failures_total', 'Attempts to write or send that failed.', [
    'to',
  ]);
  const lastSuccess = register.gauge(
    'watchpost_export_last_success_timestamp_seconds',
    'When something was last written or sent; absent if never since the start.',
    ['to'],
  );
  return {
    sent(to, count, at) {
      sent.inc({ to }, count);
      lastSuccess.set({ to }, at / 1_000);
    },
    dropped: (to, count) => dropped.inc({ to }, count),
    failed: (to) => failures.inc({ to }),
  };
}
