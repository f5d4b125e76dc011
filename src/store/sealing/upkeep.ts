import type Database from 'better-sqlite3';
import type { Clock } from '#kernel/clock.ts';
import { hourMs } from '#kernel/units.ts';
import { clipFuture, type TimeAhead } from './clip-future.ts';
import type { VerdictPeriodConversion } from './convert-verdict-periods.ts';
import { createDeletionTime } from './deletion-time.ts';
import { createForgetting, type Retention } from './forget.ts';
import type { LateResults } from './late.ts';
import type { SealingMarks } from './marks.ts';
import { createDaySealing } from './seal-days.ts';
import { createHourSealing } from './seal-hours.ts';
import type { TargetNodePair, SealedRows } from './sealed-rows.ts';

/** What keeps the file small: results become sealed hours, these become days, and what is old is forgotten. */
export interface Upkeep {
  /**
   * Does one short piece of what is to be done now; false if nothing is. It may be cut off anywhere: what it had begun is begun
   * anew, with the same outcome.
   */
  step(): boolean;
  /** To be called for every result that is written of an hour that is not sealed. */
  written(pair: TargetNodePair, dueAt: number): void;
  /** Makes the file fit a clock that was ahead until now. Returns whether it was. */
  clipFuture(ahead: TimeAhead | null): boolean;
  /** The time that retention goes by, which the wall clock may be ahead of. */
  deletionNow(): number;
  /** How far it has come. */
  progress(): UpkeepProgress;
}

export interface UpkeepProgress {
  /** Results before it are sealed, in milliseconds since the epoch; 0 if none are. */
  readonly sealedUntil: number;
  /** The oldest result that is not, or null. */
  readonly oldestUnsealed: number | null;
  /** Of how many targets older rounds may have no verdict yet, and how many periods older rounds were given since the start. */
  readonly targetsUnjudged: number;
  readonly periodsMade: number;
}

export interface UpkeepOptions {
  readonly database: Database.Database;
  readonly rows: SealedRows;
  readonly late: LateResults;
  readonly marks: SealingMarks;
  readonly retention: Retention;
  readonly prepareSealed: () => boolean;
  readonly onSealed: (until: number) => void;
  readonly conversion: VerdictPeriodConversion;
  readonly clock: Pick<Clock, 'now' | 'elapsed'>;
}

// What nodes bring in after their hour within this time needs no second sealing.
const graceMs = 300_000;

export function createUpkeep({
  database,
  rows,
  late,
  marks,
  retention,
  conversion,
  clock,
  ...sealed
}: UpkeepOptions): Upkeep {
  const deletion = createDeletionTime(database, marks, clock);
  const hours = createHourSealing({ database, rows, marks, sureUntil: () => deletion.now(), ...sealed });
  const days = createDaySealing(database, rows, marks);
  const forgetting = createForgetting(database, rows, marks, retention);
  const oldest = database.prepare<[number], { at: number | null }>(
    'SELECT min(due_at) AS at FROM results WHERE due_at >= ?',
  );
  return {
    step() {
      const over = Math.floor((clock.now() - graceMs) / hourMs) * hourMs;
      if (forgetting.stepSealed() || hours.step(over) || late.seal() || days.step()) return true;
      return conversion.step() || forgetting.step(deletion.now());
    },
    clipFuture(ahead) {
      const isClipped = clipFuture({ database, rows, marks }, clock.now(), ahead);
      hours.abandon();
      days.abandon();
      return isClipped;
    },
    deletionNow: () => deletion.now(),
    written: (pair, dueAt) => hours.written(pair, dueAt),
    progress() {
      const sealedUntil = marks.get('hours_until');
      return {
        sealedUntil,
        oldestUnsealed: oldest.get(sealedUntil)?.at ?? null,
        targetsUnjudged: conversion.targetsLeft(),
        periodsMade: conversion.made,
      };
    },
  };
}
