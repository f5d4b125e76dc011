import type Database from 'better-sqlite3';
import { createSpellLog, type SpellLog } from '../spells.ts';
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

export function openHistoryParts(database: Database.Database, retention: Retention): HistoryParts {
  const spells = createSpellLog(database);
  const marks = createMarks(database);
  const rows = createSealedRows(database);
  const late = createLateResults(database, rows, marks);
  const recent = readRecentRounds(database, marks.get('hours_until'));
  const onSealed = (until: number) => {
    spells.flush();
    recent.dropBefore(until);
  };
  return {
    spells,
    marks,
    rows,
    late,
    recent,
    upkeep: createUpkeep({ database, rows, late, marks, retention, onSealed }),
  };
}
