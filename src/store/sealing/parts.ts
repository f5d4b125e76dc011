import type Database from 'better-sqlite3';
import { createHistorySource } from '../history.ts';
import { createSpellLog, type SpellLog } from '../spells.ts';
import { createSpellConversion } from './convert-spells.ts';
import type { Retention } from './forget.ts';
import { createLateResults, type LateResults } from './late.ts';
import { createMarks, type Marks } from './marks.ts';
import { readRecentRounds, type RecentRounds } from './recent-rounds.ts';
import { createSealedRows, type SealedRows } from './sealed-rows.ts';
import { createUpkeep, type Upkeep } from './upkeep.ts';

/** What works together on the history in a file. */
export interface HistoryParts {
  readonly spells: SpellLog;
  readonly marks: Marks;
  readonly rows: SealedRows;
  readonly late: LateResults;
  readonly recent: RecentRounds;
  readonly upkeep: Upkeep;
}

/** Those that read. */
export function readHistoryParts(
  database: Database.Database,
): Pick<HistoryParts, 'marks' | 'rows' | 'late' | 'recent'> {
  const marks = createMarks(database);
  const rows = createSealedRows(database);
  const recent = readRecentRounds(database, marks.get('hours_until'));
  return { marks, rows, late: createLateResults(database, rows, marks), recent };
}

export function openHistoryParts(database: Database.Database, retention: Retention): HistoryParts {
  const { marks, rows, late, recent } = readHistoryParts(database);
  const spells = createSpellLog(database, marks.get('hours_until'));
  const prepareSealed = () => spells.flushSome();
  const onSealed = (until: number) => {
    spells.flush(until);
    recent.dropBefore(until);
  };
  const source = createHistorySource({ database, rows, late, marks, recent, newest: () => spells.newest() });
  const conversion = createSpellConversion(database, marks, source);
  return {
    spells,
    marks,
    rows,
    late,
    recent,
    upkeep: createUpkeep({ database, rows, late, marks, retention, prepareSealed, onSealed, conversion }),
  };
}
