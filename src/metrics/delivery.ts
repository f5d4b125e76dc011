import type { Clock } from '#kernel/clock.ts';
import type { DeliveryCount } from '#monitor/judge/delivery.ts';
import type { MetricReader } from './ask.ts';
import type { OwnRegister } from './own-register.ts';

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
  register: OwnRegister,
  clock: Clock,
  ask: MetricReader,
  counts: () => readonly DeliveryCount[],
): DeliveryMetrics {
  const pending = register.gauge('watchpost_deliveries_pending', 'Deliveries without a final outcome.', ['channel']);
  const oldest = register.gauge(
    'watchpost_deliveries_oldest_seconds',
    'Age of the oldest delivery without a final outcome; 0 if there is none.',
    ['channel'],
  );
  const total = register.counter(
    'watchpost_deliveries_total',
    'Attempts at deliveries by how they ended: sent, merged into another message, dead, or retry.',
    ['channel', 'outcome'],
  );
  const delay = register.histogram(
    'watchpost_delivery_delay_seconds',
    'Time from the decision to the acceptance of a message.',
    delayBounds,
    ['channel'],
  );
  const channels = new Set<string>();

  function registerChannel(channel: string): void {
    if (channels.has(channel)) return;
    channels.add(channel);
    for (const outcome of outcomes) total.inc({ channel, outcome }, 0);
    delay.zero({ channel });
  }

  function show(channel: string, count: number, oldestAt: number | null): void {
    registerChannel(channel);
    pending.set({ channel }, count);
    oldest.set({ channel }, oldestAt === null ? 0 : Math.max(0, clock.now() - oldestAt) / 1_000);
  }

  return {
    refresh() {
      pending.reset();
      oldest.reset();
      const rows = ask('deliveries', counts);
      if (rows === null) return;
      for (const channel of channels) show(channel, 0, null);
      for (const row of rows) show(row.channel, row.pending, row.oldestAt);
    },
    deliverySettled({ channel, state, createdAt, at }) {
      registerChannel(channel);
      total.inc({ channel, outcome: state === 'pending' ? 'retry' : state });
      if (state === 'sent') delay.observe({ channel }, Math.max(0, at - createdAt) / 1_000);
    },
  };
}
