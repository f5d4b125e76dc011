import type Database from 'better-sqlite3';
import { type Clock, clockJitterMs } from '#kernel/clock.ts';
import { createHistorySource } from '../history.ts';
import { createVerdictPeriodLog, type VerdictPeriodLog } from '../verdict-periods.ts';
import type { TimeAhead } from './clip-future.ts';
import { createVerdictPeriodConversion } from './convert-verdict-periods.ts';
import type { Retention } from './forget.ts';
import { createLateResults, type LateResults } from './late.ts';
import { createMarks, type SealingMarks } from './marks.ts';
import { readRecentRounds, type RecentRounds } from './recent-rounds.ts';
import { createSealedRows, type SealedRows } from './sealed-rows.ts';
import { createUpkeep, type Upkeep } from './upkeep.ts';

/** What works together on the history in a file. */
export interface HistoryParts {
  readonly periods: VerdictPeriodLog;
  readonly marks: SealingMarks;
  readonly rows: SealedRows;
  readonly late: LateResults;
  readonly recent: RecentRounds;
  readonly upkeep: Upkeep;
}

/** Those that read. */
export function readHistoryParts(
  database: Database.Database,
  clock: Pick<Clock, 'now'>,
): Pick<HistoryParts, 'marks' | 'rows' | 'late' | 'recent'> {
  const marks = createMarks(database);
  const rows = createSealedRows(database);
  const recent = readRecentRounds(
    database,
    () => marks.get('hours_until'),
    () => clock.now() + clockJitterMs,
  );
  return { marks, rows, late: createLateResults(database, rows, marks), recent };
}

export function openHistoryParts(
  database: Database.Database,
  retention: Retention,
  clock: Pick<Clock, 'now' | 'elapsed'>,
): HistoryParts {
  const { marks, rows, late, recent } = readHistoryParts(database, clock);
  const periods = createVerdictPeriodLog(
    database,
    () => marks.get('hours_until'),
    () => clock.now() + clockJitterMs,
  );
  const prepareSealed = () => periods.flushSome();
  const onSealed = (until: number) => {
    periods.flush(until);
    recent.dropBefore(until);
  };
  const source = createHistorySource({ database, rows, late, marks, recent, newest: () => periods.newest() });
  const conversion = createVerdictPeriodConversion(database, marks, source, recent);
  const upkeep = createUpkeep({ database, rows, late, marks, retention, prepareSealed, onSealed, conversion, clock });
  const clipFuture = (ahead: TimeAhead | null) => {
    periods.flush();
    const isClipped = upkeep.clipFuture(ahead);
    if (isClipped) {
      periods.reread();
      recent.reread();
    }
    return isClipped;
  };
  clipFuture(null);
  return { periods, marks, rows, late, recent, upkeep: { ...upkeep, clipFuture } };
}
