import { Buffer } from 'node:buffer';
import { z } from 'zod';
import type { Clock } from '#kernel/clock.ts';
import { eq, sql } from './drizzle.ts';
import { isOutage } from './errors.ts';
import type { OpenDatabase } from './open.ts';
import type { WriteResult } from './queue.ts';
import { facts } from './schema.ts';
import { backlogName, positionName } from './shared-names.ts';
import { createSharedWriter, deliveryNames, writeFact } from './shared-write.ts';
import type { DeliveryName, SharedWrite } from './shared-writes.ts';
import type { VerdictPeriodLog } from './verdict-periods.ts';
import type { Writer } from './write.ts';

/** How far this file has applied the log of the hubs. */
export interface AppliedPosition {
  readonly sequence: number;
  readonly epoch: number;
  readonly n: number;
}

export interface SharedCommitDependencies {
  readonly file: Pick<OpenDatabase, 'raw' | 'drizzle' | 'waitForDisk'>;
  readonly writer: Writer;
  readonly periods: Pick<VerdictPeriodLog, 'transactionEnded'>;
  readonly clock: Clock;
  readonly onWritten?: ((seconds: number) => void) | undefined;
}

/** Commits of records of the log. */
export interface SharedCommit {
  /**
   * Applies a record and notes the position, in one transaction; a write that cannot be made is left out, on every hub alike, and
   * its error stands in its place. `backlog` is kept until the log has it. Throws if the database refuses.
   */
  commit(
    writes: readonly SharedWrite[],
    position: AppliedPosition,
    durable: boolean,
    backlog?: Uint8Array,
  ): readonly (WriteResult | Error)[];
  /** Null if the file never was one of several hubs. */
  position(): AppliedPosition | null;
  /** Notes a position without a write. */
  move(position: AppliedPosition): void;
  /** The records that the log does not have yet, oldest first. */
  backlog(): readonly Uint8Array[];
  /** The log has the oldest of them. */
  backlogSent(position: AppliedPosition): void;
  /** What every hub calls deliveries with these row numbers. */
  namesOf(ids: readonly number[]): ReadonlyMap<number, DeliveryName>;
}

const Position = z.object({ sequence: z.number(), epoch: z.number(), n: z.number() });

export function createSharedCommit({
  file,
  writer,
  periods,
  clock,
  onWritten,
}: SharedCommitDependencies): SharedCommit {
  const database = file.drizzle;

  const write = createSharedWriter(database, writer);

  const setFact = (name: string, value: string) => writeFact(database, name, value);

  function transact(writes: readonly SharedWrite[], skipped: ReadonlyMap<number, Error>, end: () => void) {
    let current = 0;
    try {
      const results = file.raw
        .transaction(() => {
          const written = writes.map((one, index) => {
            current = index;
            return skipped.get(index) ?? write(one);
          });
          end();
          return written;
        })
        .immediate();
      periods.transactionEnded('committed');
      return { results, failed: null };
    } catch (error) {
      periods.transactionEnded('rolled back');
      writer.forgetNames();
      if (isOutage(error) || skipped.has(current) || !(error instanceof Error)) throw error;
      return { results: null, failed: { index: current, error } };
    }
  }

  return {
    commit(writes, position, durable, backlog) {
      file.waitForDisk(durable);
      const begun = clock.elapsed();
      const skipped = new Map<number, Error>();
      for (;;) {
        const { results, failed } = transact(writes, skipped, () => {
          setFact(positionName, JSON.stringify(position));
          if (backlog !== undefined) setFact(backlogNameOf(position.n), Buffer.from(backlog).toString('base64'));
        });
        if (failed !== null) skipped.set(failed.index, failed.error);
        else {
          onWritten?.((clock.elapsed() - begun) / 1_000);
          return results;
        }
      }
    },
    position() {
      const row = database.select({ value: facts.value }).from(facts).where(eq(facts.name, positionName)).get();
      return row === undefined ? null : Position.parse(JSON.parse(row.value));
    },
    move: (position) => setFact(positionName, JSON.stringify(position)),
    backlog: () =>
      database
        .select({ value: facts.value })
        .from(facts)
        .where(sql`${facts.name} GLOB ${`${backlogName}*`}`)
        .orderBy(facts.name)
        .all()
        .map(({ value }) => Buffer.from(value, 'base64')),
    backlogSent(position) {
      file.raw
        .transaction(() => {
          const oldest = sql`(SELECT min(name) FROM facts WHERE name GLOB ${`${backlogName}*`})`;
          database
            .delete(facts)
            .where(sql`${facts.name} = ${oldest}`)
            .run();
          setFact(positionName, JSON.stringify(position));
        })
        .immediate();
    },
    namesOf: (ids) => deliveryNames(database, ids),
  };
}

// Names sort as their numbers do.
const backlogNameOf = (n: number) => `${backlogName}${String(n).padStart(16, '0')}`;
