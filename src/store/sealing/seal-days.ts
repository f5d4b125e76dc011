import type Database from 'better-sqlite3';
import { dayMs } from '#kernel/units.ts';
import type { SealingMarks } from './marks.ts';
import type { TargetNodePair, SealedRows } from './sealed-rows.ts';

const pairsAtOnce = 15;

/** Makes days of sealed hours, in short pieces. A day counts once it is whole; what is cut off is begun anew. */
export interface DaySealer {
  /** Does a piece of work; false if every day is sealed whose hours are. */
  step(): boolean;
  /** Drops what it has begun: the clock was set back. */
  abandon(): void;
}

export function createDaySealing(database: Database.Database, rows: SealedRows, marks: SealingMarks): DaySealer {
  const firstHour = database.prepare<[], { at: number }>('SELECT hour * 3600000 AS at FROM packs ORDER BY id LIMIT 1');
  let day: number | null = null;
  let after: TargetNodePair | null = null;

  const write = database.transaction((at: number) => {
    for (let count = 0; count < pairsAtOnce; count += 1) {
      after = rows.pairAfter('hours', after);
      if (after === null) {
        marks.set('days_until', at + dayMs);
        return;
      }
      rows.putDay(after, at);
    }
  });

  // If nothing is sealed yet, days begin with the first sealed hour.
  function nextDay(): number {
    const until = marks.get('days_until');
    return until > 0 ? until : Math.floor((firstHour.get()?.at ?? 0) / dayMs) * dayMs;
  }

  return {
    step() {
      const next = day ?? nextDay();
      if (next === 0 || next + dayMs > marks.get('hours_until')) return false;
      if (day === null) [day, after] = [next, null];
      try {
        write.immediate(next);
      } catch (error) {
        day = null;
        throw error;
      }
      if (after === null) day = null;
      return true;
    },
    abandon() {
      day = null;
    },
  };
}
