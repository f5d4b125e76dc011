import { type Clock, sleepUnlessAborted } from '#kernel/clock.ts';
import { messageOf, WatchpostError } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import { isOfBacklog, sendBacklog } from './backlog.ts';
import { isHeld, type Lease, type LeaseTimes, leaseTimes } from './lease.ts';
import type { MemberStore } from './member-store.ts';
import { canAct, type LogPosition } from './position.ts';
import { type LogReader, SnapshotNeeded } from './reader.ts';
import { decodeRecord, encodeRecord, isSameRecord, type LogRecord } from './record.ts';
import type { LogSession } from './session.ts';

export interface MemberTimes extends LeaseTimes {
  readonly lookEveryMs: number;
  /** How long a leader tries to reach NATS before it goes on alone. */
  readonly aloneAfterMs: number;
}

export const memberTimes: MemberTimes = { ...leaseTimes, lookEveryMs: 1_000, aloneAfterMs: 5_000 };

export interface LeadershipOptions {
  readonly name: string;
  readonly epoch: number;
  readonly revision: number;
  /** When the lease was asked for. */
  readonly askedAt: number;
  /** How long a record may be as far as is known: one that was written alone has to fit into the log later. */
  readonly mostBytes: number;
  readonly store: MemberStore;
  readonly reader: LogReader;
  readonly session: () => Promise<LogSession | null>;
  readonly times: MemberTimes;
  readonly clock: Clock;
  readonly log: Log;
  /** Called once when another hub leads; the term is over by then. */
  readonly onLost: (reason: string) => void;
  /** Called when the hub goes on alone, and when it does so no more. */
  readonly onChange: () => void;
}

/** A record as the log has it, or as the backlog keeps it until the log does. */
export interface WrittenRecord {
  readonly position: LogPosition;
  readonly backlog?: Uint8Array;
}

const pauseMs = 200;
// The log has another place for a record of the backlog, which may be a few digits longer.
const spareBytes = 64;

/** The time in which this hub leads: renews the lease, and writes the log. */
export class Leadership {
  readonly #options: LeadershipOptions;
  readonly #over = new AbortController();
  #isAlone = false;
  #revision: number;
  /** When its last successful renewal was requested. */
  #renewedAt: number;
  /** Since when attempts to reach the log fail; null while they do not. */
  #failingSince: number | null = null;
  #endedStepAt: number;
  #uncommitted = 0;
  #mostBytes: number;
  #isSendingBacklog = false;

  constructor(options: LeadershipOptions) {
    this.#options = options;
    this.#revision = options.revision;
    this.#renewedAt = options.askedAt;
    this.#mostBytes = options.mostBytes;
    this.#endedStepAt = options.clock.elapsed();
  }

  get epoch(): number {
    return this.#options.epoch;
  }

  /** Whether it led when NATS was lost, and goes on without it. */
  get isAlone(): boolean {
    return this.#isAlone;
  }

  get isOver(): boolean {
    return this.#over.signal.aborted;
  }

  /** Whether this hub may act on its own at this moment: its lease holds, or no other hub can be asked. */
  mayAct(): boolean {
    return !this.isOver && (this.#isAlone || this.#isHeld());
  }

  /** What was written is committed here. */
  committed(): void {
    this.#uncommitted = 0;
  }

  /**
   * Writes a record. Resolves when the log has it, or when it goes to the backlog; rejects if this hub leads no more, and with a
   * `RangeError` if the record is longer than NATS takes.
   */
  async publish(writes: readonly unknown[]): Promise<WrittenRecord> {
    const { clock, times } = this.#options;
    for (let waitedMs = 0; ;) {
      const begun = clock.elapsed();
      if (this.isOver) throw notLeading();
      const record = this.#recordOf(writes);
      const { position } = this.#options.reader;
      if (this.#isAlone && !this.#isSendingBacklog) {
        const backlog = encodeWithin(this.#mostBytes - spareBytes, record);
        this.#uncommitted += 1;
        return { position: { ...position, epoch: record.epoch, n: record.n }, backlog };
      }
      const sequence = !this.#isAlone && this.#isHeld() ? await this.#append(record) : null;
      if (sequence !== null) {
        if (!canAct(record, sequence)) throw this.#lose('another hub wrote to the log at the same time');
        this.#uncommitted += 1;
        return { position: { sequence, epoch: record.epoch, n: record.n } };
      }
      await sleepUnlessAborted(clock, pauseMs, this.#over.signal);
      // A process that was suspended has not waited.
      waitedMs += Math.min(clock.elapsed() - begun, times.renewEveryMs);
      if (waitedMs >= times.aloneAfterMs && this.#failingSince !== null) this.#goAlone();
    }
  }

  /** Does what is due: renews the lease, or looks whether NATS is back. Rejects if NATS does not answer. */
  async step(): Promise<void> {
    const { clock, times } = this.#options;
    // This process was suspended: what failed before says nothing.
    if (clock.elapsed() - this.#endedStepAt > times.renewEveryMs) this.#failingSince = null;
    try {
      const session = await this.#session();
      await (this.#isAlone ? this.#rejoin(session) : this.#renew(session));
    } catch (error) {
      if (!(error instanceof SnapshotNeeded)) this.#failed();
      throw error;
    } finally {
      this.#endedStepAt = clock.elapsed();
    }
  }

  /** Hands the lease over, once nothing of this hub is on its way to the log. */
  async release(): Promise<void> {
    this.end();
    const session = await this.#options.session();
    if (session === null) return;
    const released = { ...this.#own, isReleased: true };
    if ((await session.putLease(released, this.#revision)) !== null) return;
    // A renewal was on its way, or another hub took the lease of this epoch too, which does not lead.
    const lease = await session.lease();
    if (lease?.epoch === this.epoch) await session.putLease(released, lease.revision);
  }

  /** Writes nothing from now on. */
  end(): void {
    this.#over.abort(notLeading());
  }

  async #session(): Promise<LogSession> {
    const session = await this.#options.session();
    if (session === null) throw new Error('there is no connection to NATS');
    return session;
  }

  get #own(): Omit<Lease, 'revision'> {
    return { hub: this.#options.name, epoch: this.epoch, isReleased: false };
  }

  #isHeld(): boolean {
    return isHeld(this.#renewedAt, this.#options.clock.elapsed(), this.#options.times);
  }

  #recordOf(writes: readonly unknown[]): LogRecord {
    const { name: hub, reader } = this.#options;
    const { n, sequence } = reader.position;
    return { epoch: this.epoch, n: n + 1, after: sequence, hub, isFirst: false, writes };
  }

  async #renew(session: LogSession): Promise<void> {
    const { clock, times, name } = this.#options;
    const now = clock.elapsed();
    if (now - this.#renewedAt < times.renewEveryMs) return;
    let revision = await session.putLease(this.#own, this.#revision);
    if (revision === null) {
      // An earlier renewal may have arrived although its answer did not.
      const lease = await session.lease();
      if (lease?.epoch !== this.epoch) {
        this.#lose(
          lease?.hub === name ? `another hub is called ${name} too` : `hub ${lease?.hub ?? '?'} has taken the lease`,
        );
        return;
      }
      // Another hub that took the lease at the same moment does not lead: the log has the first record of this one.
      revision = lease.hub === name ? lease.revision : await session.putLease(this.#own, lease.revision);
      if (revision === null) return;
    }
    this.#renewed(revision, now);
  }

  #renewed(revision: number, askedAt: number): void {
    this.#revision = revision;
    this.#renewedAt = askedAt;
    this.#failingSince = null;
  }

  // The log answers again. Another hub may have led meanwhile.
  async #rejoin(session: LogSession): Promise<void> {
    if (this.#uncommitted > 0) return;
    const { name, store, reader, clock, log } = this.#options;
    this.#isSendingBacklog = true;
    try {
      const askedAt = clock.elapsed();
      const lease = await session.lease();
      if (lease !== null && lease.hub !== name && lease.epoch > this.epoch) return this.#overtaken(lease.hub);
      await this.#rebase(session);
      await reader.catchUp(session, (record) => isOfBacklog(record, store, reader));
      if (reader.position.epoch > this.epoch) return this.#overtaken(lease?.hub ?? '?');
      const revision = await session.putLease(this.#own, lease?.revision ?? 0);
      if (revision === null) return;
      if (!(await sendBacklog(session, store, reader))) return;
      this.#renewed(revision, askedAt);
      this.#isAlone = false;
      log.info({ hub: name }, 'the log of the hubs is back; this hub leads on');
      this.#options.onChange();
    } finally {
      this.#isSendingBacklog = false;
    }
  }

  #overtaken(by: string): void {
    const reason = `hub ${by} led while this hub was alone`;
    if (this.#options.store.backlog().length > 0) throw new SnapshotNeeded(reason);
    this.#lose(reason);
  }

  // The sequence of the record in the log; null if it is not known to be there.
  async #append(record: LogRecord): Promise<number | null> {
    try {
      const session = await this.#session();
      this.#mostBytes = session.mostBytes;
      const sequence = await session.append(encodeWithin(session.mostBytes, record), record.after);
      if (sequence !== null) return sequence;
      const there = await session.read(record.after + 1);
      const found = there === null ? null : decodeRecord(there);
      // It was written by an attempt whose answer did not come.
      if (found !== null && found !== 'newer' && isSameRecord(found, record)) return record.after + 1;
      if (found !== null) throw this.#lose(found === 'newer' ? 'a newer version leads' : `hub ${found.hub} leads`);
      await this.#rebase(session);
      return null;
    } catch (error) {
      if (error instanceof NotLeadingError || error instanceof RangeError) throw error;
      if (this.#failingSince === null)
        this.#options.log.warn({ reason: messageOf(error) }, 'cannot write to the log of the hubs; retrying');
      this.#failed();
      return null;
    }
  }

  // The stream is shorter than what was read of it: it lost records that it had acknowledged.
  async #rebase(session: LogSession): Promise<void> {
    const { store, reader, log } = this.#options;
    const { last } = await session.bounds();
    const { position } = reader;
    if (last >= position.sequence) return;
    log.error({ had: position.sequence, has: last }, 'the log of the hubs has lost records; going on from here');
    const moved = { ...position, sequence: last };
    store.move(moved);
    reader.moved(moved);
  }

  #failed(): void {
    const { clock, times } = this.#options;
    const now = clock.elapsed();
    this.#failingSince ??= now;
    if (now - this.#failingSince >= times.aloneAfterMs) this.#goAlone();
  }

  #goAlone(): void {
    if (this.#isAlone || this.isOver) return;
    this.#options.log.error('the log of the hubs does not answer; this hub goes on alone');
    this.#isAlone = true;
    this.#options.onChange();
  }

  #lose(reason: string): NotLeadingError {
    if (!this.isOver) {
      this.end();
      this.#options.log.warn({ reason }, 'this hub does not lead any more');
      this.#options.onLost(reason);
    }
    return notLeading();
  }
}

function encodeWithin(mostBytes: number, record: LogRecord): Uint8Array {
  const bytes = encodeRecord(record);
  if (bytes.length > mostBytes)
    throw new RangeError(`a record has ${bytes.length} bytes, and NATS takes ${mostBytes}: raise max_payload`);
  return bytes;
}

class NotLeadingError extends WatchpostError {}

/** What a hub answers that is asked to write although it does not lead. */
export const notLeading = () => new NotLeadingError('store_failed', 'this hub does not lead');
