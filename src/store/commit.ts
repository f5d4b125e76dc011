import type Database from 'better-sqlite3';
import type { Clock } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import type { OpenDatabase } from './open.ts';
import type { QueuedWrite, WriteResult } from './queue.ts';
import type { VerdictPeriodLog } from './verdict-periods.ts';
import type { Writer } from './write.ts';

export interface CommitDependencies {
  readonly file: Pick<OpenDatabase, 'waitForDisk'> & { readonly raw: Pick<Database.Database, 'transaction'> };
  readonly writer: Writer;
  readonly periods: Pick<VerdictPeriodLog, 'transactionEnded'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Called with the duration of each committed transaction, in seconds. */
  readonly onWritten?: ((seconds: number) => void) | undefined;
}

/** What writes a batch in one transaction, or throws and has written nothing. */
export function createCommit({ file, writer, periods, clock, log, onWritten }: CommitDependencies) {
  function write(work: QueuedWrite): WriteResult {
    if (work.kind === 'round') return writer.writeRound(work.round);
    if (work.kind === 'late') return writer.writeLate(work.late);
    work.outcomes.forEach((outcome) => writer.writeOutcome(outcome));
    return 'settled';
  }

  function transact(work: readonly QueuedWrite[]): readonly WriteResult[] {
    try {
      return file.raw.transaction(() => work.map(write)).immediate();
    } catch (error) {
      periods.transactionEnded('rolled back');
      writer.forgetNames();
      throw error;
    }
  }

  // It is written by now: whatever goes wrong here must not have it written again.
  function reportDuration(seconds: number): void {
    try {
      onWritten?.(seconds);
    } catch (error) {
      log.error({ err: error }, 'cannot report that the database was written');
    }
  }

  return (work: readonly QueuedWrite[], durable: boolean): readonly WriteResult[] => {
    file.waitForDisk(durable);
    const begun = clock.elapsed();
    const done = transact(work);
    periods.transactionEnded('committed');
    reportDuration((clock.elapsed() - begun) / 1_000);
    return done;
  };
}
