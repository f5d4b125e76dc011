import { Gauge, Histogram, type Registry } from 'prom-client';
import type { Ask } from './ask.ts';

export interface StoreFigures {
  /** Size of the database with its journal. */
  readonly bytes: number;
  /** Rounds that wait to be written. */
  readonly queued: number;
}

export interface StoreMetrics {
  refresh(): void;
  storeWritten(seconds: number): void;
}

const writeBounds = [0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10];

export function createStoreMetrics(registry: Registry, ask: Ask, figures: () => StoreFigures): StoreMetrics {
  const registers = [registry];
  const bytes = new Gauge({
    name: 'watchpost_store_bytes',
    help: 'Size of the database with its journal.',
    registers,
  });
  const queued = new Gauge({ name: 'watchpost_store_queued', help: 'Rounds that wait to be written.', registers });
  const write = new Histogram({
    name: 'watchpost_store_write_seconds',
    help: 'How long a transaction took.',
    buckets: writeBounds,
    registers,
  });

  return {
    refresh() {
      const now = ask('store', figures);
      bytes.set(now?.bytes ?? Number.NaN);
      queued.set(now?.queued ?? Number.NaN);
    },
    storeWritten: (seconds) => write.observe(seconds),
  };
}
