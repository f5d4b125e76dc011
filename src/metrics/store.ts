import type { Ask } from './ask.ts';
import type { Register } from './register.ts';

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

export function createStoreMetrics(register: Register, ask: Ask, figures: () => StoreFigures): StoreMetrics {
  const bytes = register.gauge('watchpost_store_bytes', 'Size of the database with its journal.');
  const queued = register.gauge('watchpost_store_queued', 'Rounds that wait to be written.');
  const write = register.histogram('watchpost_store_write_seconds', 'How long a transaction took.', writeBounds).of();

  return {
    refresh() {
      const now = ask('store', figures);
      bytes.of().value = now?.bytes ?? null;
      queued.of().value = now?.queued ?? null;
    },
    storeWritten: (seconds) => write.observe(seconds),
  };
}
