import type Database from 'better-sqlite3';
import { type Clock, clockJitterMs } from '#kernel/clock.ts';
import { createHistorySource } from '../history.ts';
import { createSpellLog, type VerdictPeriodLog } from '../spells.ts';
import { createSpellConversion } from './convert-spells.ts';
import type { Retention } from './forget.ts';
import { createLateResults, type LateResults } from './late.ts';
import { createMarks, type SealingMarks } from './marks.ts';
import { readRecentRounds, type RecentRounds } from './recent-rounds.ts';
import { createSealedRows, type SealedRows } from './sealed-rows.ts';
import { createUpkeep, type Upkeep } from './upkeep.ts';

/** What works together on the history in a file. */
export interface HistoryParts {
  readonly spells: VerdictPeriodLog;
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
  const spells = createSpellLog(
    database,
    () => marks.get('hours_until'),
    () => clock.now() + clockJitterMs,
  );
  const prepareSealed = () => spells.flushSome();
  const onSealed = (until: number) => {
    spells.flush(until);
    recent.dropBefore(until);
  };
  const source = createHistorySource({ database, rows, late, marks, recent, newest: () => spells.newest() });
  const conversion = createSpellConversion(database, marks, source, recent);
  const upkeep = createUpkeep({ database, rows, late, marks, retention, prepareSealed, onSealed, conversion, clock });
  const clipFuture = () => {
    spells.flush();
    const isClipped = upkeep.clipFuture();
    if (isClipped) {
      spells.reread();
      recent.reread();
    }
    return isClipped;
  };
  clipFuture();
  return { spells, marks, rows, late, recent, upkeep: { ...upkeep, clipFuture } };
}
