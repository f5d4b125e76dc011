import type { Clock } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import type { OpenDatabase } from './open.ts';
import type { OutcomeInput } from './rows.ts';
import { type AppliedPosition, createSharedCommit, type SharedCommit } from './shared-commit.ts';
import { SharedQueue, type WriteLog } from './shared-queue.ts';
import type { SharedWrite } from './shared-writes.ts';
import type { VerdictPeriodLog } from './verdict-periods.ts';
import type { Writer } from './write.ts';

export type { AppliedPosition } from './shared-commit.ts';
export type { WriteLog } from './shared-queue.ts';
export { type SharedWrite, SharedWrites } from './shared-writes.ts';

/** A file whose history several hubs share. */
export interface SharedStore extends Omit<SharedCommit, 'namesOf'> {
  /** Applies a record of the log that another hub wrote. */
  apply(writes: readonly SharedWrite[], position: AppliedPosition): void;
  /** Resolves when all that waits for the log now is committed; rejects if some of it cannot be. */
  idle(): Promise<void>;
}

export interface SharingOptions {
  readonly writeLog: WriteLog;
  /** Called with each record that was committed, whichever hub wrote it. */
  readonly onCommitted: (writes: readonly SharedWrite[], position: AppliedPosition) => void;
}

/** How the parts of the store write if the history is shared. */
export interface SharedWriting {
  /** Resolves when the log has these outcomes. */
  claimed(claims: readonly OutcomeInput[]): Promise<void>;
  /** Makes deliveries due at once. Returns how many. */
  retry(ids: readonly number[]): number;
  /** Writes through the log; a failure is logged. */
  write(write: SharedWrite): void;
}

export interface SharingDependencies extends SharingOptions {
  readonly file: OpenDatabase;
  readonly writer: Writer;
  readonly periods: Pick<VerdictPeriodLog, 'transactionEnded'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly onWritten?: ((seconds: number) => void) | undefined;
}

/** The queue, the writing and the reading of a shared file. */
export function createSharing(dependencies: SharingDependencies) {
  const { writer, clock, log, writeLog, onCommitted } = dependencies;
  const shared = createSharedCommit(dependencies);
  const verdictWith = writer.verdictWith.bind(writer);
  const queue = new SharedQueue({ clock, log, writeLog, shared, verdictWith, onCommitted });
  const write = (one: SharedWrite) =>
    void queue
      .write(one)
      .catch((error: unknown) => log.error({ err: error, kind: one.kind }, 'cannot write to the log of the hubs'));
  const writing: SharedWriting = {
    write,
    claimed: async (claims) => queue.claimed(claims),
    retry(ids) {
      if (ids.length > 0) write({ kind: 'retry', deliveries: [...shared.namesOf(ids).values()], at: clock.now() });
      return ids.length;
    },
  };
  const store: SharedStore = {
    ...shared,
    apply(writes, at) {
      shared.commit(writes, at, false);
      onCommitted(writes, at);
    },
    idle: async () => queue.idle(),
  };
  return { queue, writing, store };
}
