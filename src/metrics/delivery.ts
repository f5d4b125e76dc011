import type { Clock } from '#kernel/clock.ts';
import type { DeliveryCount } from '#monitor/judge/delivery.ts';
import type { MetricReader } from './ask.ts';
import type { Register } from './register.ts';

export interface DeliveryAttemptResult {
  readonly channel: string;
  /** `pending` says that the attempt failed and another one follows. */
  readonly state: 'sent' | 'merged' | 'dead' | 'pending';
  /** When it was decided, and when it was settled: milliseconds since the epoch. */
  readonly createdAt: number;
  readonly at: number;
}

export interface DeliveryMetrics {
  refresh(): void;
  deliverySettled(settled: DeliveryAttemptResult): void;
}

const outcomes = ['sent', 'merged', 'dead', 'retry'];
const delayBounds = [1, 5, 15, 60, 300, 900, 3_600, 14_400, 86_400];

export function createDeliveryMetrics(
  register: Register,
  clock: Clock,
  ask: MetricReader,
  counts: () => readonly DeliveryCount[],
): DeliveryMetrics {
  const pending = register.gauge('watchpost_deliveries_pending', 'Deliveries that are not settled.');
  const oldest = register.gauge(
    'watchpost_deliveries_oldest_seconds',
    'Age of the oldest delivery that is not settled; 0 where there is none.',
  );
  const total = register.counter(
    'watchpost_deliveries_total',
    'Attempts at deliveries by how they ended: sent, merged into another message, dead, or retry.',
  );
  const delay = register.histogram(
    'watchpost_delivery_delay_seconds',
    'Time from the decision to the acceptance of a message.',
    delayBounds,
  );
  const channels = new Set<string>();

  function know(channel: string): void {
    if (channels.has(channel)) return;
    channels.add(channel);
    for (const outcome of outcomes) total.of({ channel, outcome });
    delay.of({ channel });
  }

  function show(channel: string, count: number, oldestAt: number | null): void {
    know(channel);
    pending.of({ channel }).value = count;
    oldest.of({ channel }).value = oldestAt === null ? 0 : Math.max(0, clock.now() - oldestAt) / 1_000;
  }

  return {
    refresh() {
      pending.clear();
      oldest.clear();
      const rows = ask('deliveries', counts);
      if (rows === null) return;
      for (const channel of channels) show(channel, 0, null);
      for (const row of rows) show(row.channel, row.pending, row.oldestAt);
    },
    deliverySettled({ channel, state, createdAt, at }) {
      know(channel);
      total.of({ channel, outcome: state === 'pending' ? 'retry' : state }).add();
      if (state === 'sent') delay.of({ channel }).observe(Math.max(0, at - createdAt) / 1_000);
    },
  };
}
