import type { Clock } from '#kernel/clock.ts';
import { WatchpostError } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import type { LateVote, RoundRecord } from '#monitor/judge/round-record.ts';
import { reasonOf } from './errors.ts';
import { isDurableRound, isSteady, type QueueHealth, type WriteQueue, type WriteResult } from './queue.ts';
import type { OutcomeInput } from './rows.ts';
import type { AppliedPosition, SharedCommit } from './shared-commit.ts';
import type { SharedLateVote, SharedWrite } from './shared-writes.ts';

/** Where a record stands once the log has it, or is to have it later. */
export interface PublishedRecord {
  readonly position: AppliedPosition;
  /** The record, if the log cannot take it now: it is kept until the log can. */
  readonly backlog?: Uint8Array;
}

/** The log of several hubs that share one history. */
export interface WriteLog {
  /**
   * Resolves when the log has the record, so that this hub may commit it and act on it. Rejects if this hub does not lead, and with a
   * `RangeError` if the record is too long.
   */
  publish(writes: readonly SharedWrite[]): Promise<PublishedRecord>;
}

export interface SharedQueueOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly writeLog: WriteLog;
  readonly shared: SharedCommit;
  /** The verdict that a round has with a late vote; null if there is nothing to say. */
  readonly verdictWith: (late: LateVote) => SharedLateVote['verdict'];
  /** Called with what was committed. */
  readonly onCommitted: (writes: readonly SharedWrite[], position: AppliedPosition) => void;
}

interface PendingWrite {
  /** Until when it may wait for company, by the monotonic clock. */
  readonly dueAt: number;
  readonly queuedAt: number;
  readonly make: () => SharedWrite;
  readonly outcomes: readonly OutcomeInput[];
  resolve(result: WriteResult): void;
  reject(error: Error): void;
}

const groupMs = 1_000;
// Those that come together go together.
const leastGroupMs = 50;
const groupLimit = 200;
// A message may tell thousands of incidents, and one write has to fit into a record.
const outcomesAtOnce = 1_000;
const firstRetryMs = 250;
const longestRetryMs = 10_000;

/**
 * The queue of a hub that shares its history: what waits goes to the log as one record, and is committed when the log has it. One
 * record at a time is on its way. Rounds that change nothing but the history wait for company until a second after the record before.
 */
export class SharedQueue implements WriteQueue {
  readonly #options: SharedQueueOptions;
  readonly #pending: PendingWrite[] = [];
  #sending: readonly PendingWrite[] = [];
  #timer: { readonly at: number; readonly handle: Disposable } | null = null;
  #isPumping = false;
  #isClosed = false;
  #lastError: string | null = null;
  #failingSince: number | null = null;
  #hurriedAt = Number.NEGATIVE_INFINITY;
  #sentAt = Number.NEGATIVE_INFINITY;
  readonly #open = new Set<Promise<WriteResult>>();

  constructor(options: SharedQueueOptions) {
    this.#options = options;
  }

  async add(round: RoundRecord): Promise<WriteResult> {
    return this.#push(() => ({ kind: 'round', round }), isSteady(round) ? this.#groupMs : 0);
  }

  async addLate(late: LateVote): Promise<WriteResult> {
    const { verdictOf, ...rest } = late;
    const make = (): SharedWrite => {
      const verdict = verdictOf === undefined ? undefined : this.#options.verdictWith(late);
      return { kind: 'late', late: verdict === undefined ? rest : { ...rest, verdict } };
    };
    return this.#push(make, 0);
  }

  /** Writes what is no round. */
  async write(work: SharedWrite): Promise<WriteResult> {
    return this.#push(() => work, 0);
  }

  storeOutcomes(outcomes: readonly OutcomeInput[]): void {
    this.claimed(outcomes).catch((error: unknown) =>
      this.#options.log.warn(
        { reason: reasonOf(error) },
        'delivery outcome is not in the log; the next leader repeats the message',
      ),
    );
  }

  /** Resolves when the log has these outcomes. */
  async claimed(outcomes: readonly OutcomeInput[]): Promise<void> {
    const parts: Promise<void>[] = [];
    for (let from = 0; from < outcomes.length; from += outcomesAtOnce)
      parts.push(this.#claimPart(outcomes.slice(from, from + outcomesAtOnce)));
    await Promise.all(parts);
  }

  async #claimPart(outcomes: readonly OutcomeInput[]): Promise<void> {
    const make = (): SharedWrite => {
      const names = this.#options.shared.namesOf(outcomes.map(({ id }) => id));
      return {
        kind: 'outcomes',
        outcomes: outcomes.flatMap(({ id, ...outcome }) => {
          const of = names.get(id);
          return of === undefined ? [] : [{ of, outcome }];
        }),
      };
    };
    await this.#push(make, 0, outcomes);
  }

  /** Sends what waits, if it has waited for so long. */
  flush(waitedMs = 0): void {
    this.#hurriedAt = Math.max(this.#hurriedAt, this.#options.clock.elapsed() - waitedMs);
    const [first] = this.#pending;
    if (first !== undefined && first.queuedAt <= this.#hurriedAt) this.#wakeIn(0);
  }

  /** Resolves when all that waits now is committed; rejects if some of it cannot be. */
  async idle(): Promise<void> {
    this.flush();
    await Promise.all(this.#open);
  }

  waitingOutcomes(): readonly OutcomeInput[] {
    return [...this.#sending, ...this.#pending].flatMap(({ outcomes }) => outcomes);
  }

  health(): QueueHealth {
    const queued = this.#pending.length + this.#sending.length;
    return { lastError: this.#lastError, failingSince: this.#failingSince, queued, dropped: 0 };
  }

  // What is not in the log yet is not lost: nodes keep it until its round is committed.
  close(): number {
    this.#isClosed = true;
    this.#timer?.handle[Symbol.dispose]();
    this.#rejectAll(new WatchpostError('store_failed', 'the database is closed'));
    return 0;
  }

  async #push(make: () => SharedWrite, waitMs: number, outcomes: readonly OutcomeInput[] = []): Promise<WriteResult> {
    if (this.#isClosed) throw new WatchpostError('store_failed', 'the database is closed');
    const { promise, resolve, reject } = Promise.withResolvers<WriteResult>();
    this.#open.add(promise);
    const queuedAt = this.#options.clock.elapsed();
    this.#pending.push({ queuedAt, dueAt: queuedAt + waitMs, make, outcomes, resolve, reject });
    this.#wakeIn(this.#pending.length >= groupLimit ? 0 : waitMs);
    try {
      return await promise;
    } finally {
      this.#open.delete(promise);
    }
  }

  get #groupMs(): number {
    return Math.max(leastGroupMs, this.#sentAt + groupMs - this.#options.clock.elapsed());
  }

  #wakeIn(ms: number): void {
    const at = this.#options.clock.elapsed() + ms;
    if (this.#timer !== null && this.#timer.at <= at) return;
    this.#timer?.handle[Symbol.dispose]();
    this.#timer = { at, handle: this.#options.clock.after(ms, () => void this.#pump()) };
  }

  async #pump(): Promise<void> {
    this.#timer = null;
    if (this.#isPumping) return;
    this.#isPumping = true;
    try {
      while (this.#isDue()) await this.#send(this.#pending.splice(0, groupLimit));
    } finally {
      this.#isPumping = false;
    }
    const nextAt = Math.min(...this.#pending.map(({ dueAt }) => dueAt));
    if (Number.isFinite(nextAt)) this.#wakeIn(nextAt - this.#options.clock.elapsed());
  }

  #isDue(): boolean {
    if (this.#isClosed || this.#pending.length === 0) return false;
    if (this.#pending.length >= groupLimit) return true;
    const now = this.#options.clock.elapsed();
    return this.#pending.some(({ dueAt, queuedAt }) => dueAt <= now || queuedAt <= this.#hurriedAt);
  }

  async #send(batch: readonly PendingWrite[]): Promise<void> {
    this.#sending = batch;
    try {
      await this.#sendParts(batch);
    } finally {
      this.#sending = [];
    }
  }

  // What is too long for one record goes in several.
  async #sendParts(batch: readonly PendingWrite[]): Promise<void> {
    this.#sentAt = this.#options.clock.elapsed();
    try {
      const writes = batch.map(({ make }) => make());
      const { position, backlog } = await this.#options.writeLog.publish(writes);
      const durable = writes.some(isDurable);
      const results = await this.#commit(writes, position, durable, backlog);
      this.#options.onCommitted(writes, position);
      for (const [index, result] of results.entries()) {
        if (result instanceof Error) batch[index]?.reject(result);
        else batch[index]?.resolve(result);
      }
    } catch (error) {
      if (error instanceof RangeError && batch.length > 1) {
        const half = batch.length >> 1;
        await this.#sendParts(batch.slice(0, half));
        return this.#sendParts(batch.slice(half));
      }
      const reason = new WatchpostError('store_failed', `not stored: ${reasonOf(error)}`, { cause: error });
      for (const one of batch) one.reject(reason);
    }
  }

  // The log has it: nothing else may be written before it.
  async #commit(...work: Parameters<SharedCommit['commit']>): Promise<ReturnType<SharedCommit['commit']>> {
    const { clock, log, shared } = this.#options;
    for (let retryMs = firstRetryMs; ; retryMs = Math.min(2 * retryMs, longestRetryMs)) {
      try {
        const results = shared.commit(...work);
        if (this.#lastError !== null) log.info('database is writable again');
        this.#lastError = null;
        this.#failingSince = null;
        return results;
      } catch (error) {
        if (this.#isClosed) throw error;
        if (this.#lastError === null) log.error({ err: error }, 'cannot write to the database; rounds wait in memory');
        this.#lastError = reasonOf(error);
        this.#failingSince ??= clock.now();
        await new Promise<void>((resolve) => clock.after(retryMs, resolve));
      }
    }
  }

  #rejectAll(error: Error): void {
    for (const one of this.#pending.splice(0)) one.reject(error);
  }
}

function isDurable(write: SharedWrite): boolean {
  if (write.kind === 'round') return isDurableRound(write.round);
  return write.kind !== 'late' && write.kind !== 'changes';
}
