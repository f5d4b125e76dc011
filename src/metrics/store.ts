import type { MetricReader } from './ask.ts';
import { type OwnRegister, setOrRemove } from './own-register.ts';

export interface StoreFigures {
  /** Size of the database with its journal. */
  readonly bytes: number;
  /** Rounds that wait to be written. */
  readonly queued: number;
  /** How old the oldest result is that was not sealed yet; 0 if there is none. */
  readonly unsealedSeconds: number;
}

export interface StoreMetrics {
  refresh(): void;
  storeWritten(seconds: number): void;
  upkeepDone(seconds: number): void;
}

const writeBounds = [0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10];

export function createStoreMetrics(
  register: OwnRegister,
  ask: MetricReader,
  figures: () => StoreFigures,
): StoreMetrics {
  const bytes = register.gauge('watchpost_store_bytes', 'Size of the database with its journal.');
  const queued = register.gauge('watchpost_store_queued', 'Rounds that wait to be written.');
  const unsealed = register.gauge(
    'watchpost_store_unsealed_age_seconds',
    'Age of the oldest result that was not sealed into its hour yet.',
  );
  const upkeep = register.histogram(
    'watchpost_store_upkeep_seconds',
    'How long a piece of sealing or forgetting took.',
    writeBounds,
  );
  const write = register.histogram('watchpost_store_write_seconds', 'How long a transaction took.', writeBounds);

  return {
    refresh() {
      const now = ask('store', figures);
      setOrRemove(bytes, now?.bytes ?? null);
      setOrRemove(queued, now?.queued ?? null);
      setOrRemove(unsealed, now?.unsealedSeconds ?? null);
    },
    storeWritten: (seconds) => write.observe({}, seconds),
    upkeepDone: (seconds) => upkeep.observe({}, seconds),
  };
}
