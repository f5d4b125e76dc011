import type { Clock } from '#kernel/clock.ts';
import { WatchpostError } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import type { LateVote, RoundRecord } from '#monitor/judge/round-record.ts';
import { isOutage, reasonOf } from './errors.ts';
import type { OutcomeInput } from './rows.ts';

export type QueuedWrite =
  | { readonly kind: 'round'; readonly round: RoundRecord }
  | { readonly kind: 'late'; readonly late: LateVote }
  | { readonly kind: 'outcomes'; readonly outcomes: readonly OutcomeInput[] };

export type WriteResult = 'stored' | 'revised' | 'duplicate' | 'settled';

export interface QueueOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Writes all of it in one transaction, or throws and has written nothing. `durable` asks for a sync to the disk. */
  commit(work: readonly QueuedWrite[], durable: boolean): readonly WriteResult[];
  /** How many rounds may wait while the database refuses. Rounds with incidents or deliveries wait besides, without limit. */
  readonly limit: number;
}

/** How the writing goes. While `lastError` is not null the database refuses, and rounds wait in memory. */
export interface QueueHealth {
  readonly lastError: string | null;
  /** When it began to refuse, in milliseconds since the epoch. */
  readonly failingSince: number | null;
  readonly queued: number;
  /** Rounds given up for lack of room since the start. */
  readonly dropped: number;
}

/** What takes the writes of the monitor, and commits them in groups. */
export interface WriteQueue {
  add(round: RoundRecord): Promise<WriteResult>;
  addLate(late: LateVote): Promise<WriteResult>;
  storeOutcomes(outcomes: readonly OutcomeInput[]): void;
  /** Commits what waits, or begins to, if the first of it has waited for so long; by default in any case. */
  flush(waitedMs?: number): void;
  waitingOutcomes(): readonly OutcomeInput[];
  health(): QueueHealth;
  close(): number;
}

interface QueuedWork {
  readonly work: QueuedWrite;
  resolve(result: WriteResult): void;
  reject(error: Error): void;
}

// Rounds that change nothing wait so long for others. A transaction writes some seven pages even for one result, so healthy rounds
// wait longer for enough of them.
const groupMs = 1_000;
const longestGroupMs = 3_000;
const enoughResults = 100;
// Other processes read the file: a verdict must not expire there while the next round waits.
const leastHoldsMs = 10_000;
const groupLimit = 300;
// A transaction of so many rows takes some milliseconds; what waits beyond them gets the next one, after others had a turn.
const rowsAtOnce = 600;
const urgentGapMs = 50;
const firstRetryMs = 250;
const longestRetryMs = 10_000;

/**
 * Group commit. Rounds that change nothing but the history wait up to a second for others, or until they fill a transaction, and
 * healthy ones up to three while fewer than a hundred results wait. Anything else is committed at once with all that waits, in the order of arrival, but with a gap
 * between two such commits: a storm shares its syncs.
 * No transaction is long: what is too much for one is committed in several, with a turn for others between them. While the
 * database refuses, everything waits and is tried again with growing pauses.
 */
export class CommitQueue implements WriteQueue {
  readonly #options: QueueOptions;
  #queued: QueuedWork[] = [];
  #timer: { readonly at: number; readonly handle: Disposable } | null = null;
  /** Since when steady rounds wait, and how many results they have. */
  #group: { readonly since: number; results: number } | null = null;
  #lastUrgentAt = Number.NEGATIVE_INFINITY;
  #retryMs = 0;
  #lastError: string | null = null;
  #failingSince: number | null = null;
  #dropped = 0;
  #closed = false;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  /** Resolved once the round is committed; rejects with `store_failed` if it cannot be, or was dropped. */
  add(round: RoundRecord): Promise<WriteResult> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(new WatchpostError('store_failed', 'the database is closed'));
      this.#queued.push({ work: { kind: 'round', round }, resolve, reject });
      if (this.#lastError !== null) return this.#makeRoom();
      if (isSteady(round) && this.#queued.length < groupLimit) return this.#wakeIn(this.#groupWaitMs(round));
      const left = this.#lastUrgentAt + urgentGapMs - this.#options.clock.elapsed();
      if (left > 0) return this.#wakeIn(left);
      this.#lastUrgentAt = this.#options.clock.elapsed();
      this.#flushSome();
    });
  }

  /** Like `add`, for a late vote. It waits a moment only: its sender has more. */
  addLate(late: LateVote): Promise<WriteResult> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(new WatchpostError('store_failed', 'the database is closed'));
      this.#queued.push({ work: { kind: 'late', late }, resolve, reject });
      if (this.#lastError !== null) return this.#makeRoom();
      this.#wakeIn(urgentGapMs);
    });
  }

  /**
   * Commits at once what waits, unless the database refuses, or the first steady round has waited for less than `waitedMs`. Many of
   * them are left to their own second: they would be one long hold for each reader.
   */
  flush(waitedMs = 0): void {
    if (this.#lastError !== null || this.#closed) return;
    if (waitedMs === 0 || this.#haveFewWaited(waitedMs)) this.#flushAll();
  }

  /** Commits at once. If the database refuses, the outcomes wait like everything else; a wrong row throws. */
  storeOutcomes(outcomes: readonly OutcomeInput[]): void {
    if (this.#closed) throw new WatchpostError('store_failed', 'the database is closed');
    const failures: Error[] = [];
    const reject = (error: Error) => failures.push(error);
    this.#queued.push({ work: { kind: 'outcomes', outcomes }, resolve: () => undefined, reject });
    if (this.#lastError === null) this.#flushAll();
    for (const failure of failures) throw failure;
  }

  // Everything that waits, as far as the database lets it.
  #flushAll(): void {
    do this.#flushSome();
    while (this.#queued.length > 0 && this.#lastError === null);
  }

  /** The delivery outcomes that are not yet in the database, oldest first. */
  waitingOutcomes(): readonly OutcomeInput[] {
    return this.#queued.flatMap(({ work }) => (work.kind === 'outcomes' ? work.outcomes : []));
  }

  health(): QueueHealth {
    return {
      lastError: this.#lastError,
      failingSince: this.#failingSince,
      queued: this.#queued.length,
      dropped: this.#dropped,
    };
  }

  /** Flushes and ends. What could not be written is rejected, and its count returned. */
  close(): number {
    if (this.#closed) return 0;
    this.#flushAll();
    this.#closed = true;
    this.#timer?.handle[Symbol.dispose]();
    this.#timer = null;
    const lost = this.#queued;
    this.#queued = [];
    const error = new WatchpostError('store_failed', `not written before the end: ${this.#lastError ?? ''}`);
    for (const one of lost) one.reject(error);
    return lost.length;
  }

  #haveFewWaited(waitedMs: number): boolean {
    const group = this.#group;
    if (group === null || group.results >= enoughResults) return false;
    return this.#options.clock.elapsed() - group.since >= waitedMs;
  }

  #groupWaitMs(round: RoundRecord): number {
    const now = this.#options.clock.elapsed();
    const group = (this.#group ??= { since: now, results: 0 });
    group.results += round.votes.length;
    // They fill a transaction: what waits longer only becomes old enough to be garbage that is dear to collect.
    if (group.results >= rowsAtOnce) return 0;
    const mayWait = isHealthy(round) && group.results < enoughResults;
    return Math.max(0, group.since + (mayWait ? longestGroupMs : groupMs) - now);
  }

  #flushSome(): void {
    this.#timer?.handle[Symbol.dispose]();
    this.#timer = null;
    this.#group = null;
    try {
      if (this.#queued.length > 0) this.#commit(this.#queued.slice(0, this.#batchLength()));
    } catch (error) {
      return this.#postpone(error);
    }
    this.#recover();
    if (this.#queued.length > 0) this.#wakeIn(0);
  }

  #batchLength(): number {
    let rows = 0;
    const tooMany = this.#queued.findIndex(({ work }, index) => (rows += rowsOf(work)) > rowsAtOnce && index > 0);
    return tooMany === -1 ? this.#queued.length : tooMany;
  }

  // Takes the batch off the queue. If one is at fault, the others are committed without it.
  #commit(batch: readonly QueuedWork[]): void {
    let results: readonly WriteResult[];
    try {
      const work = batch.map((one) => one.work);
      results = this.#options.commit(work, work.some(isDurable));
    } catch (error) {
      if (isOutage(error)) throw error;
      if (batch.length > 1) return batch.forEach((one) => this.#commit([one]));
      this.#queued.shift();
      return batch[0]?.reject(new WatchpostError('store_failed', `not stored: ${reasonOf(error)}`, { cause: error }));
    }
    this.#queued.splice(0, batch.length);
    for (const [index, result] of results.entries()) batch[index]?.resolve(result);
  }

  #postpone(error: unknown): void {
    const { clock, log } = this.#options;
    this.#retryMs = Math.min(Math.max(this.#retryMs * 2, firstRetryMs), longestRetryMs);
    const reason = reasonOf(error);
    if (this.#lastError !== reason) {
      log.error({ err: error, queued: this.#queued.length }, 'cannot write to the database; rounds wait in memory');
    }
    this.#lastError = reason;
    this.#failingSince ??= clock.now();
    this.#makeRoom();
    this.#wakeIn(this.#retryMs);
  }

  #recover(): void {
    if (this.#lastError === null) return;
    this.#options.log.info({ dropped: this.#dropped }, 'database is writable again');
    this.#lastError = null;
    this.#failingSince = null;
    this.#retryMs = 0;
  }

  // Drops the oldest rounds that changed nothing, then those that changed a state only; never one with an incident.
  #makeRoom(): void {
    while (this.#queued.length > this.#options.limit) {
      const steady = this.#queued.findIndex(
        ({ work }) => work.kind === 'late' || (work.kind === 'round' && isSteady(work.round)),
      );
      const index = steady === -1 ? this.#queued.findIndex(({ work }) => !isDurable(work)) : steady;
      const [one] = index === -1 ? [] : this.#queued.splice(index, 1);
      if (one === undefined) return;
      this.#dropped += 1;
      one.reject(new WatchpostError('store_failed', `round dropped: ${this.#lastError ?? ''}, and the queue is full`));
    }
  }

  #wakeIn(ms: number): void {
    const at = this.#options.clock.elapsed() + ms;
    if (this.#timer !== null && this.#timer.at <= at) return;
    this.#timer?.handle[Symbol.dispose]();
    this.#timer = { at, handle: this.#options.clock.after(ms, () => this.#wake()) };
  }

  #wake(): void {
    if (this.#queued.some(({ work }) => work.kind === 'round' && !isSteady(work.round))) {
      this.#lastUrgentAt = this.#options.clock.elapsed();
    }
    this.#flushSome();
  }
}

// About as many as it writes, the round itself counted as one: it is looked up.
function rowsOf(work: QueuedWrite): number {
  if (work.kind === 'late') return 2;
  if (work.kind === 'outcomes') return work.outcomes.length;
  const { votes, states, incidents, deliveries } = work.round;
  return 1 + votes.length + states.length + incidents.length + deliveries.length;
}

export function isSteady(round: RoundRecord): boolean {
  const { states, incidents, deliveries, heard } = round;
  return states.length === 0 && incidents.length === 0 && deliveries.length === 0 && heard === undefined;
}

function isHealthy({ verdict, votes }: RoundRecord): boolean {
  if (verdict?.status !== 'up' || verdict.holdsMs < leastHoldsMs) return false;
  return votes.every(({ outcome }) => outcome.status === 'up');
}

// A notification goes out, or was sent, or its acceptance was promised: it must survive a power cut.
function isDurable(work: QueuedWrite): boolean {
  if (work.kind === 'late') return false;
  if (work.kind === 'outcomes') return true;
  return isDurableRound(work.round);
}

/** Whether a notification follows from it, or an acceptance was promised. */
export function isDurableRound({ incidents, deliveries, heard }: RoundRecord): boolean {
  return incidents.length > 0 || deliveries.length > 0 || heard !== undefined;
}
