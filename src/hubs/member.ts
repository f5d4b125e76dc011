import { type Clock, sleepUnlessAborted } from '#kernel/clock.ts';
import { messageOf, WatchpostError } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import { sendBacklog } from './backlog.ts';
import { canTake, isHeld, type Lease, nextEpoch, type ObservedLease, observeLease } from './lease.ts';
import type { MemberStore } from './member-store.ts';
import { canAct, type LogPosition } from './position.ts';
import { createReader, type LogReader, SnapshotNeeded } from './reader.ts';
import { encodeRecord } from './record.ts';
import type { LogSession } from './session.ts';
import { type MemberTimes, memberTimes, notLeading, Leadership, type WrittenRecord } from './leadership.ts';

export interface MemberOptions {
  readonly name: string;
  readonly store: MemberStore;
  /** The log over the connection as it is now; null if there is none. Rejects if the server has none. */
  readonly session: () => Promise<LogSession | null>;
  /** What each leader writes first, so that all hubs have it. */
  readonly firstWrites: () => readonly unknown[];
  /** Called when this hub leads, and when it stops to lead without having been asked to. */
  readonly onLead: () => void;
  readonly onLost: (reason: string) => void;
  /** Called once if the log does not lead from this database to the present. */
  readonly onSnapshotNeeded: () => void;
  readonly times?: MemberTimes;
  readonly clock: Clock;
  readonly log: Log;
}

export interface MemberStatus {
  /** `alone`: it led when the connection to NATS was lost, and goes on. */
  readonly role: 'follower' | 'leader' | 'alone';
  readonly epoch: number;
  readonly applied: LogPosition;
  /** The hub that leads as far as is known. */
  readonly leader: string | null;
  /** Since when it has this role, in milliseconds since the epoch. */
  readonly since: number;
  /** Why the log cannot be read, or null. */
  readonly trouble: string | null;
}

const renewLookMs = 300;

/** One of several hubs: follows the log, takes the lease when its holder is gone, and leads from then on. */
export class Member {
  readonly #options: MemberOptions;
  readonly #times: MemberTimes;
  readonly #stop = new AbortController();
  readonly #reader: LogReader;
  #leadership: Leadership | null = null;
  #since: number;
  #observed: ObservedLease | null = null;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #patientUntil = Number.NEGATIVE_INFINITY;
  #trouble: string | null = null;
  #isAsked = false;
  #isSuccessor = false;
  #asked = Promise.withResolvers<void>();
  #running: Promise<void> | null = null;

  constructor(options: MemberOptions) {
    this.#options = options;
    this.#times = options.times ?? memberTimes;
    this.#since = options.clock.now();
    this.#reader = createReader(options.store, options.log);
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Reads the log at once, and looks at the lease too if that changed. */
  wake(isLease: boolean): void {
    this.#isAsked = true;
    if (isLease) this.#lookedAt = Number.NEGATIVE_INFINITY;
    this.#asked.resolve();
  }

  status(): MemberStatus {
    const lease = this.#observed?.lease ?? null;
    const term = this.#leading;
    const held = lease?.isReleased === false ? lease.hub : null;
    return {
      role: term === null ? 'follower' : term.isAlone ? 'alone' : 'leader',
      epoch: (term ?? this.#reader.position).epoch,
      applied: this.#reader.position,
      leader: term === null ? held : this.#options.name,
      since: this.#since,
      trouble: this.#trouble,
    };
  }

  /** Whether this hub may act on its own at this moment: it leads, and its lease holds or no other hub can be asked. */
  mayAct(): boolean {
    return this.#leading?.mayAct() ?? false;
  }

  /** Whether the hub that led before has handed over to this one. */
  get isSuccessor(): boolean {
    return this.#isSuccessor;
  }

  /** What the store committed. */
  committed(position: LogPosition): void {
    this.#leadership?.committed();
    this.#reader.moved(position);
  }

  /** Writes a record. Resolves when the log has it, or when it goes to the backlog; rejects if this hub does not lead. */
  async publish(writes: readonly unknown[]): Promise<WrittenRecord> {
    const term = this.#leading;
    if (term === null) throw notLeading();
    return term.publish(writes);
  }

  /** Hands the lease over, once nothing of this hub is on its way to the log; does not take it again at once. */
  async release(): Promise<void> {
    const term = this.#leading;
    if (term === null) return;
    this.#patientUntil = this.#options.clock.elapsed() + 2 * this.#times.takeAfterMs;
    this.#since = this.#options.clock.now();
    await term.release();
  }

  async close(): Promise<void> {
    this.#stop.abort(new WatchpostError('store_failed', 'this hub is stopping'));
    this.#leadership?.end();
    this.#asked.resolve();
    await this.#running;
  }

  get #leading(): Leadership | null {
    return this.#leadership === null || this.#leadership.isOver ? null : this.#leadership;
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      this.#isAsked = false;
      this.#asked = Promise.withResolvers();
      try {
        await (this.#leading?.step() ?? this.#follow());
        this.#trouble = null;
      } catch (error) {
        if (error instanceof SnapshotNeeded) return this.#snapshotNeeded(error);
        const reason = messageOf(error);
        if (this.#trouble !== reason && !signal.aborted)
          log.warn({ reason }, 'cannot reach the log of the hubs; retrying');
        this.#trouble = reason;
      }
      const waitMs = this.#leading === null ? this.#times.lookEveryMs : renewLookMs;
      if (!this.#isAsked) await Promise.race([this.#asked.promise, sleepUnlessAborted(clock, waitMs, signal)]);
    }
  }

  #snapshotNeeded({ message: reason }: SnapshotNeeded): void {
    this.#options.log.warn({ reason }, 'history has to be copied from another hub');
    this.#leadership?.end();
    this.#options.onSnapshotNeeded();
  }

  async #follow(): Promise<void> {
    const { clock, name, store } = this.#options;
    const session = await this.#options.session();
    if (session === null) throw new Error('there is no connection to NATS');
    await this.#reader.catchUp(session);
    if (clock.elapsed() - this.#lookedAt < this.#times.lookEveryMs) return;
    this.#lookedAt = clock.elapsed();
    const lease = await session.lease();
    const now = clock.elapsed();
    this.#observed = observeLease(this.#observed, lease, now);
    // Its own lease is from before a restart.
    const isFree = lease?.hub === name || canTake(this.#observed, now, this.#times);
    const bounds = await session.bounds();
    if (store.position() !== null) this.#reader.verify(bounds);
    // Only the first hub of all begins with what it has.
    else if (bounds.last > 0 || !isFree) throw new SnapshotNeeded('this hub is new');
    if (this.#reader.isBehindVersion || (now < this.#patientUntil && lease !== null)) return;
    if (isFree) await this.#take(session, lease, this.#observed);
  }

  async #take(session: LogSession, lease: Lease | null, observed: ObservedLease): Promise<void> {
    const { name, firstWrites, store, log, clock } = this.#options;
    const reader = this.#reader;
    const epoch = nextEpoch(observed, reader.position);
    const askedAt = clock.elapsed();
    const revision = await session.putLease({ hub: name, epoch, isReleased: false }, lease?.revision ?? 0);
    if (revision === null) return;
    while (isHeld(askedAt, clock.elapsed(), this.#times)) {
      await reader.catchUp(session);
      if (reader.position.epoch >= epoch) return this.#giveWay(epoch);
      if (!(await sendBacklog(session, store, reader))) continue;
      const { n, sequence: after } = reader.position;
      const head = { epoch, n: n + 1, after };
      const writes = firstWrites();
      const sequence = await session.append(encodeRecord({ ...head, hub: name, isFirst: true, writes }), after);
      if (sequence === null || !canAct(head, sequence)) continue;
      const position = { sequence, epoch, n: head.n };
      store.apply(writes, position);
      reader.moved(position);
      this.#isSuccessor = lease?.isReleased === true;
      log.info({ hub: name, epoch }, 'this hub leads');
      const term = { epoch, revision, askedAt, reader, mostBytes: session.mostBytes };
      this.#begin(new Leadership({ ...this.#options, ...term, ...this.#leadershipEvents() }));
      return;
    }
  }

  // A server may let two hubs take the same lease (nats-server #4320).
  // The one whose record came first leads, and takes the lease back with its next renewal.
  #giveWay(epoch: number): void {
    const { name, log, clock } = this.#options;
    this.#patientUntil = clock.elapsed() + this.#times.takeAfterMs;
    log.info({ hub: name, epoch }, 'another hub took the lease at the same moment, and leads');
  }

  #begin(leadership: Leadership): void {
    this.#leadership = leadership;
    this.#since = this.#options.clock.now();
    this.#options.onLead();
  }

  #leadershipEvents() {
    return {
      times: this.#times,
      onChange: () => {
        this.#since = this.#options.clock.now();
      },
      onLost: (reason: string) => {
        this.#since = this.#options.clock.now();
        // If another hub has the same name, both would take the lease again and again.
        this.#patientUntil = this.#options.clock.elapsed() + this.#times.takeAfterMs;
        this.#options.onLost(reason);
      },
    };
  }
}
