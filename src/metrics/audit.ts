import type { MetricReader } from './ask.ts';
import type { Register } from './register.ts';

/** The number of open incidents without a notification; read at each scrape. */
export function createAuditMetrics(
  register: Register,
  ask: MetricReader,
  unreported: () => number,
): { refresh(): void } {
  const incidents = register.gauge(
    'watchpost_unreported_incidents',
    'Open incidents that the audit found without a notification although nothing explained it.',
  );
  return {
    refresh() {
      incidents.of().value = ask('audit', unreported) ?? 0;
    },
  };
}
