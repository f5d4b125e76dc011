import { type Clock, orAbort } from '#kernel/clock.ts';

/** What was found out, and for how long it is good. */
export interface CacheableValue<Value> {
  readonly value: Value;
  readonly keepMs: number;
}

/** A cache of answers that concurrent lookups of one key share. */
export interface SharedCache<Value> {
  /**
   * The value of a key: as it is kept, or as `find` gives it, which gets the value that was kept before. Who asks for the same while it is
   * looked for waits for it. Rejects only as `find` does, or with the signal's reason.
   */
  of(key: string, signal: AbortSignal, find: (before: Value | null) => Promise<CacheableValue<Value>>): Promise<Value>;
  /** The value of this key is no good any more. */
  forget(key: string, value: Value): void;
}

interface CacheEntry<Value> {
  readonly value: Value;
  readonly until: number;
}

/** Keeps so many at the most; the one that was found longest ago goes. */
export function createRemembered<Value>(clock: Clock, most: number): SharedCache<Value> {
  const kept = new Map<string, CacheEntry<Value>>();
  const searches = new Map<string, Promise<void>>();

  function keep(key: string, { value, keepMs }: CacheableValue<Value>): void {
    kept.delete(key);
    kept.set(key, { value, until: clock.elapsed() + keepMs });
    for (const oldest of kept.keys()) {
      if (kept.size <= most) break;
      kept.delete(oldest);
    }
  }

  return {
    async of(key, signal, find) {
      for (;;) {
        const known = kept.get(key);
        if (known !== undefined && known.until > clock.elapsed()) return known.value;
        const search = searches.get(key);
        if (search !== undefined) {
          await orAbort(search, signal);
          continue;
        }
        const { promise, resolve } = Promise.withResolvers<void>();
        searches.set(key, promise);
        try {
          const found = await find(known?.value ?? null);
          keep(key, found);
          return found.value;
        } finally {
          searches.delete(key);
          resolve();
        }
      }
    },
    forget(key, value) {
      if (kept.get(key)?.value === value) kept.delete(key);
    },
  };
}
