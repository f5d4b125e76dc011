import { statSync } from 'node:fs';
import type { Clock } from '#kernel/clock.ts';
import { WatchpostError } from '#kernel/errors.ts';
import type { LateVote } from '#monitor/judge/round-record.ts';
import type { MonitorStore } from '#monitor/store.ts';
import type { ServiceStore } from '#service/ports.ts';
import {
  readChannels,
  readCounts,
  readDeliveries,
  readDue,
  readNextDeliveryAt,
  readSentMessages,
  readToldAndOpen,
  retryDeliveries,
} from './deliveries.ts';
import { asc, eq, lt } from './drizzle.ts';
import { storeError } from './errors.ts';
import { openDatabase, type OpenOptions } from './open.ts';
import { CommitQueue, type QueueHealth, type Work, type WorkResult } from './queue.ts';
import { readResults, readSuccesses, readTargets } from './read.ts';
import type { StoredResult } from './rows.ts';
import { createRunStore } from './runs.ts';
import { facts, results } from './schema.ts';
import { readSilences, writeSilence } from './silences.ts';
import { readSummary } from './summary.ts';
import { createWriter } from './write.ts';

export interface StoreOptions extends OpenOptions {
  readonly clock: Clock;
  /** How many rounds may wait in memory while the database refuses. */
  readonly queueLimit?: number;
}

/** The monitor's memory in one SQLite file, and what there is to know about the file. */
export interface Store extends MonitorStore, AsyncDisposable {
  /** The check service's part of the same file. */
  readonly checks: ServiceStore;
  /** What is kept under a name, such as the identity of this installation; made where there is nothing yet. */
  fact(name: string, make: () => string): string;
  /** The committed results of a target that were due at `since` (milliseconds since the epoch) or later, oldest first. */
  recentResults(target: string, since: number): readonly StoredResult[];
  /**
   * Stores a vote that came when its round was over, resolved once it is committed. It changes the history only, and there
   * nothing but a missing or an unknown vote.
   */
  recordLate(late: LateVote): Promise<'stored' | 'duplicate'>;
  /**
   * Deletes the results that were due before `before`, oldest first, in one short transaction of about `limit` rows, and gives
   * space back to the filesystem where much of the file is free. Returns how many it deleted; 0 says there is nothing left.
   */
  prune(options: { readonly before: number; readonly limit: number }): number;
  /** What the database takes on disk, its log included. */
  bytes(): number;
  health(): QueueHealth;
  /** Writes what waits, then lets go of the file. Rejects with `store_failed` where rounds were lost. */
  close(): Promise<void>;
}

const defaultQueueLimit = 20_000;
const freeShareKept = 1 / 8;
const pagesFreedAtOnce = 512;

/** Opens or creates the database. Throws `store_unwritable`, `store_newer` or `store_corrupt` with the way out. */
export function openStore(options: StoreOptions): Store {
  const { clock, log } = options;
  const file = openDatabase(options);
  const { raw, drizzle: database } = file;
  const writer = createWriter(database);
  const channels = new Set(readChannels(database));
  const queue = new CommitQueue({ clock, log, commit, limit: options.queueLimit ?? defaultQueueLimit });
  const checks = createRunStore({ file, clock, log });
  let closed = false;

  function commit(work: readonly Work[], durable: boolean): readonly WorkResult[] {
    file.waitForDisk(durable);
    try {
      return raw.transaction(() => work.map(write)).immediate();
    } catch (error) {
      writer.forgetNames();
      throw error;
    }
  }

  function write(work: Work): WorkResult {
    if (work.kind === 'round') return writer.writeRound(work.round);
    if (work.kind === 'late') return writer.writeLate(work.late);
    work.settlements.forEach((settlement) => writer.writeSettlement(settlement));
    return 'settled';
  }

  const number = (pragma: string): number => Number(raw.pragma(pragma, { simple: true }));

  async function close(): Promise<void> {
    if (closed) return;
    closed = true;
    const lost = queue.close();
    checks.close();
    file[Symbol.dispose]();
    if (lost > 0) throw new WatchpostError('store_failed', `${file.path}: ${lost} rounds could not be written`);
  }

  function prune(before: number, limit: number): number {
    const dueAfter = (rows: number) => {
      const old = database.select({ at: results.dueAt }).from(results).where(lt(results.dueAt, before));
      return old.orderBy(asc(results.dueAt)).limit(1).offset(rows).get()?.at;
    };
    const first = dueAfter(0);
    if (first === undefined) return 0;
    // Cut between rounds: one that is half gone would look like a round of fewer nodes.
    const end = Math.max(dueAfter(limit) ?? before, first + 1);
    const { changes } = database.delete(results).where(lt(results.dueAt, end)).run();
    const free = Math.ceil(number('freelist_count') - number('page_count') * freeShareKept);
    if (free > 0) raw.pragma(`incremental_vacuum(${Math.min(free, pagesFreedAtOnce)})`);
    return changes;
  }

  function guard<Result>(action: () => Result): Result {
    try {
      return action();
    } catch (error) {
      throw storeError(file.path, error);
    }
  }

  return {
    checks,
    load: () => guard(() => readTargets(database)),

    async record(round) {
      const result = await queue.add(round);
      for (const { channel } of round.deliveries) channels.add(channel);
      return result === 'duplicate' ? 'duplicate' : 'stored';
    },

    async recordLate(late) {
      return (await queue.addLate(late)) === 'duplicate' ? 'duplicate' : 'stored';
    },

    dueDeliveries: (now, limit) => guard(() => readDue(database, queue.waitingSettlements(), now, limit)),
    nextDeliveryAt: (now) => guard(() => readNextDeliveryAt(database, queue.waitingSettlements(), now)),
    claim: (message, ids) => queue.settle(ids.map((id) => ({ id, state: 'claimed', message }))),
    settle: (settlements) => queue.settle(settlements),
    toldAndOpen: (channel) => guard(() => readToldAndOpen(database, channel)),
    sentMessages: (since) => guard(() => readSentMessages(database, since)),
    deliveryCounts: () => guard(() => readCounts(database, channels, clock.now())),
    summarise: (from, to) => guard(() => readSummary(database, from, to)),
    listDeliveries: (options) => guard(() => readDeliveries(database, options)),
    retryDeliveries: (ids) => guard(() => retryDeliveries(database, ids, clock.now())),
    recentSuccesses: (since, wanted) => guard(() => readSuccesses(database, since, wanted)),
    silences: (now) => guard(() => readSilences(database, now)),
    saveSilence: (silence) =>
      guard(() => {
        file.waitForDisk(true);
        writeSilence(database, silence);
      }),
    fact: (name, make) =>
      guard(() => {
        const known = () =>
          database.select({ value: facts.value }).from(facts).where(eq(facts.name, name)).get()?.value;
        database
          .insert(facts)
          .values({ name, value: known() ?? make() })
          .onConflictDoNothing()
          .run();
        return known() ?? '';
      }),
    recentResults: (target, since) => guard(() => readResults(database, target, since)),
    prune: ({ before, limit }) => guard(() => prune(before, limit)),

    bytes() {
      const log = statSync(`${file.path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
      return number('page_count') * number('page_size') + log;
    },

    health: () => queue.health(),
    close,
    [Symbol.asyncDispose]: close,
  };
}
