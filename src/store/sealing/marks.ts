import type Database from 'better-sqlite3';

/**
 * How far sealing and forgetting have come, in milliseconds since the epoch. Hours that begin before `hours_until` are sealed, and so
 * are days before `days_until`; what begins before one of the `_from` is forgotten, or on its way to be. Targets up to the number
 * 'periods_done' have periods for all that is kept of them. `deletion_at` is the time that retention goes by; `clock_at` is when this file
 * was last in use, `boot_at` when the machine was started then, and `boot_id` the beginning of its boot identifier as a number.
 */
export type MarkName =
  | 'hours_until'
  | 'days_until'
  | 'results_from'
  | 'hours_from'
  | 'days_from'
  | 'periods_from'
  | 'periods_done'
  | 'deletion_at'
  | 'clock_at'
  | 'boot_id'
  | 'boot_at';

export interface SealingMarks {
  get(name: MarkName): number;
  set(name: MarkName, value: number): void;
  /** To be called where marks were changed by other means. */
  forget(): void;
}

/** 0 if nothing is noted. A mark must not be read in the transaction that sets it. */
export function createMarks(database: Database.Database): SealingMarks {
  const select = database.prepare<[string], { value: number }>('SELECT value FROM marks WHERE name = ?');
  const upsert = database.prepare<[string, number]>(
    'INSERT INTO marks (name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value',
  );
  const known = new Map<MarkName, number>();
  return {
    get(name) {
      const value = known.get(name) ?? select.get(name)?.value ?? 0;
      known.set(name, value);
      return value;
    },
    // Read anew next time: the transaction that it is set in may come to nothing.
    set(name, value) {
      upsert.run(name, value);
      known.delete(name);
    },
    forget: () => known.clear(),
  };
}
