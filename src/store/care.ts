import { statSync } from 'node:fs';
import type { FileWatch } from './file-watch.ts';
import type { OpenDatabase } from './open.ts';
import type { QueueHealth, WriteQueue } from './queue.ts';
import type { HistoryParts } from './sealing/parts.ts';
import type { TimeAhead } from './sealing/clip-future.ts';
import type { UpkeepProgress } from './sealing/upkeep.ts';

/** What a clock said when the file was in use. Times are milliseconds since the epoch. */
export interface ClockReading {
  readonly at: number;
  /** The boot of the machine, as a number, and when it was by that clock; 0 if it is not known. */
  readonly bootId: number;
  readonly bootAt: number;
}

/** Maintenance of the database file, and its state. */
export interface StoreCare {
  /**
   * Does one short step: seals an hour or a day, deletes what is older than its retention, or returns space to the filesystem if much
   * of the file is free. False if nothing is left to do for now. It may be cut off at any moment.
   */
  upkeep(): boolean;
  /** How far sealing has come. */
  upkeepProgress(): UpkeepProgress;
  /** The size of the database on disk, its log included. */
  bytes(): number;
  /**
   * Makes the file fit a clock that was ahead until now: verdict periods and marks go back to now, and what is known to have been
   * stored while it was ahead goes to the time at which it happened. Returns whether it was. To be called if the clock was set back;
   * opening the file does so too, without that knowledge.
   */
  clipFuture(ahead: TimeAhead | null): boolean;
  /** The time that retention goes by: at most that of the clock, which may have been set forward. */
  deletionNow(): number;
  /** What the clock said when it was kept last, or null. */
  lastClock(): ClockReading | null;
  keepClock(reading: ClockReading): void;
  /** Whether writing works. A file that was deleted or replaced while it is open counts as a failure, within half a minute. */
  health(): QueueHealth;
}

interface CareDependencies {
  readonly file: OpenDatabase;
  readonly parts: Pick<HistoryParts, 'upkeep' | 'marks'>;
  readonly queue: Pick<WriteQueue, 'health' | 'flush'>;
  readonly files: Pick<FileWatch, 'trouble'>;
  readonly guard: <Result>(action: () => Result) => Result;
}

export function careOf({ file, parts: { upkeep, marks }, queue, files, guard }: CareDependencies): StoreCare {
  const number = (pragma: string): number => Number(file.raw.pragma(pragma, { simple: true }));
  return {
    upkeep: () =>
      guard(() => {
        file.waitForDisk(false);
        return upkeep.step();
      }),
    upkeepProgress: () => guard(() => upkeep.progress()),
    bytes() {
      const log = statSync(`${file.path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
      return number('page_count') * number('page_size') + log;
    },
    clipFuture: (ahead) =>
      guard(() => {
        queue.flush();
        return upkeep.clipFuture(ahead);
      }),
    deletionNow: () => guard(() => upkeep.deletionNow()),
    lastClock: () =>
      guard(() => {
        const at = marks.get('clock_at');
        return at === 0 ? null : { at, bootId: marks.get('boot_id'), bootAt: marks.get('boot_at') };
      }),
    keepClock: ({ at, bootId, bootAt }) =>
      guard(() => {
        file.waitForDisk(false);
        marks.set('clock_at', at);
        marks.set('boot_id', bootId);
        marks.set('boot_at', Math.floor(bootAt));
      }),
    health() {
      const health = queue.health();
      const trouble = files.trouble();
      if (trouble === null) return health;
      const { lastError, failingSince } = health;
      return {
        ...health,
        lastError: lastError ?? trouble.message,
        failingSince: Math.min(failingSince ?? trouble.since, trouble.since),
      };
    },
  };
}
