import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Clock } from '#kernel/clock.ts';
import type { DeliveryCount } from '#monitor/judge/delivery.ts';
import type { Ask } from './ask.ts';

export interface DeliverySettled {
  readonly channel: string;
  /** `pending` says that the attempt failed and another one follows. */
  readonly state: 'sent' | 'merged' | 'dead' | 'pending';
  /** When it was decided, and when it was settled: milliseconds since the epoch. */
  readonly createdAt: number;
  readonly at: number;
}

export interface DeliveryMetrics {
  refresh(): void;
  deliverySettled(settled: DeliverySettled): void;
}

const outcomes = ['sent', 'merged', 'dead', 'retry'];
const delayBounds = [1, 5, 15, 60, 300, 900, 3_600, 14_400, 86_400];

export function createDeliveryMetrics(
  registry: Registry,
  clock: Clock,
  ask: Ask,
  counts: () => readonly DeliveryCount[],
): DeliveryMetrics {
  const registers = [registry];
  const labelNames = ['channel'] as const;
  const pending = new Gauge({
    name: 'watchpost_deliveries_pending',
    help: 'Deliveries that are not settled.',
    labelNames,
    registers,
  });
  const oldest = new Gauge({
    name: 'watchpost_deliveries_oldest_seconds',
    help: 'Age of the oldest delivery that is not settled; 0 where there is none.',
    labelNames,
    registers,
  });
  const total = new Counter({
    name: 'watchpost_deliveries_total',
    help: 'Attempts at deliveries by how they ended: sent, merged into another message, dead, or retry.',
    labelNames: ['channel', 'outcome'] as const,
    registers,
  });
  const delay = new Histogram({
    name: 'watchpost_delivery_delay_seconds',
    help: 'Time from the decision to the acceptance of a message.',
    labelNames,
    buckets: delayBounds,
    registers,
  });
  const channels = new Set<string>();

  // A counter that is there at 0 makes the first increase visible to Prometheus.
  function know(channel: string): void {
    if (channels.has(channel)) return;
    channels.add(channel);
    for (const outcome of outcomes) total.inc({ channel, outcome }, 0);
  }

  function show(channel: string, count: number, oldestAt: number | null): void {
    know(channel);
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
      know(channel);
      total.inc({ channel, outcome: state === 'pending' ? 'retry' : state });
      if (state === 'sent') delay.observe({ channel }, Math.max(0, at - createdAt) / 1_000);
    },
  };
}
