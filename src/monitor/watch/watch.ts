import type { NodeSelection } from '#checks/index.ts';
import { type Clock, sleepUnlessAborted } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import { createNextDue, type NextDue } from '#schedule/schedule.ts';
import type { RoundRecord } from '../judge/round-record.ts';
import type { Target } from '../judge/target.ts';
import type { Verdict } from '../judge/verdict.ts';
import type { Vote } from '../judge/vote.ts';
import { collectVotes } from './by-runs.ts';
import type { RoundListener, Runner, ObservedVotes, WatchHandle } from './runner.ts';

/** A round that is over. */
export interface DoneRound extends ObservedVotes {
  readonly verdict: Verdict;
  readonly inMaintenance: boolean;
}

/** The events of the monitor for metrics and pages. */
export interface MonitorEvents {
  /** The target's next round will be due at `dueAt`. */
  roundAwaited(target: Target, dueAt: number): void;
  roundSkipped(target: Target, count: number): void;
  roundDone(target: Target, round: DoneRound): void;
  recorded(record: RoundRecord): void;
  /** A target is watched no more, and its last round is over. */
  unwatched(target: string): void;
}

export interface WatchPorts {
  readonly runner: Runner;
  readonly clock: Clock;
  readonly log: Log;
  readonly events: Pick<MonitorEvents, 'roundAwaited' | 'roundSkipped'>;
  /** Called if a watch fails by a defect of ours. */
  readonly failed: (error: unknown) => void;
  readonly rounds: {
    /** Where a round goes when it is over. Gives whether another one at once would make sure of it, at once or when that is known. */
    take(target: Target, round: ObservedVotes): boolean | Promise<boolean>;
    /** Whether these votes are enough for a verdict on the target. */
    hasVerdict(target: Target, votes: readonly Vote[]): boolean;
    /** Whether one besides the schedule may begin now; to be asked before each. */
    mayBeginExtra(): boolean;
  };
}

/** The watch over one target. */
export interface Watch {
  /** Resolves when it has ended. */
  readonly ended: Promise<void>;
  /**
   * Asks for a round besides the scheduled ones: at once, or a few seconds after the last one began. If one runs that began before, there
   * is none, or, if it is needed, one after that.
   */
  request(isNeeded: boolean): void;
  /** No new rounds from now on; one that runs goes on. */
  stop(): void;
  /** Ends the round that runs, too. What has no rounds has none. */
  cut?(): void;
}

// The pause before a round that makes sure of the last one.
const confirmAfterMs = 5_000;
const shortestGapMs = 3_000;
// How often a round that has to wait is tried.
const tryEveryMs = 1_000;

/**
 * Watches one target until it is stopped:
 *
 * 1. the runner has it looked at whenever it is due, and tells what was seen and what was skipped;
 * 2. what was seen is handed on;
 * 3. if a failing round is to be confirmed, another one is asked for after a pause, on other nodes if there are any, and
 *    it goes on with 2;
 * 4. so it does with rounds besides the schedule, one at a time with the others;
 * 5. 3 and 4 wait for their turn while results are read late, until the next scheduled round at the longest.
 *
 * `work` ends what runs on its own account; `cut` is to be called then, too.
 */
export function startWatch(target: Target, ports: WatchPorts, work: AbortSignal): Watch {
  return new MonitoredTarget(target, ports, work);
}

// A class, for there is one of it for each target: closures would weigh two kilobytes.
class MonitoredTarget implements Watch, RoundListener {
  readonly #target: Target;
  readonly #ports: WatchPorts;
  readonly #work: AbortSignal;
  readonly #next: NextDue;
  readonly #watched: WatchHandle;
  /** Rounds that wait for the one that is being dealt with. */
  readonly #heard: ObservedVotes[] = [];
  #dealing: Promise<void> | null = null;
  #waiting: Disposable | null = null;
  /** Ends the pause before a round that makes sure of the last one; null if there is no pause. */
  #pausing: AbortController | null = null;
  #isStopped = false;
  /** Whether a round besides the schedule waits until results are read in time. */
  #isDeferred = false;
  #lastDueAt = Number.NEGATIVE_INFINITY;
  #lastStart = Number.NEGATIVE_INFINITY;
  /** When a round was needed last while another one ran. */
  #requestedAt = Number.NEGATIVE_INFINITY;
  #ended: Promise<void> | null = null;

  constructor(target: Target, ports: WatchPorts, work: AbortSignal) {
    this.#target = target;
    this.#ports = ports;
    this.#work = work;
    this.#next = createNextDue(target.schedule, target.name);
    this.#awaitNext();
    this.#watched = ports.runner.watch(target, this);
    if (work.aborted) this.cut();
  }

  get ended(): Promise<void> {
    return (this.#ended ??= this.#watched.ended.then(async () => this.#dealing ?? undefined));
  }

  round(round: ObservedVotes): Promise<void> | void {
    this.#awaitNext();
    if (this.#isDeferred) this.#forgetDeferred();
    if (this.#dealing !== null) {
      this.#heard.push(round);
      return this.#dealing;
    }
    if (this.#work.aborted) return undefined;
    try {
      // Mostly nothing follows, and there is nothing to wait for.
      const taken = this.#take(round);
      if (taken !== false) return (this.#dealing = this.#deal(this.#follow(round, taken)));
      return this.#requestAgain();
    } catch (error) {
      return this.#ports.failed(error);
    }
  }

  hasVerdict(votes: readonly Vote[]): boolean {
    return this.#ports.rounds.hasVerdict(this.#target, votes);
  }

  skipped(count: number): void {
    this.#awaitNext();
    this.#ports.events.roundSkipped(this.#target, count);
  }

  request(isNeeded: boolean): void {
    if (!this.#isBusy) this.#requestSoon();
    else if (isNeeded) this.#requestedAt = this.#ports.clock.elapsed();
  }

  stop(): void {
    this.#isStopped = true;
    this.#pausing?.abort(new Error('the target is no longer monitored'));
    this.#waiting?.[Symbol.dispose]();
    this.#watched.stop();
  }

  cut(): void {
    this.#watched.cut();
  }

  #requestSoon(): void {
    if (this.#waiting !== null || this.#isStopped) return;
    const { clock } = this.#ports;
    const waitMs = Math.max(0, this.#lastStart + shortestGapMs - clock.elapsed());
    this.#waiting = clock.after(waitMs, () => this.#startExtra());
  }

  // What ran when it was needed had begun before.
  #requestAgain(): void {
    if (this.#requestedAt > this.#lastStart) this.#requestSoon();
  }

  // What was heard meanwhile comes after what was begun.
  async #deal(begun: Promise<void>): Promise<void> {
    try {
      await begun;
      for (let round = this.#heard.shift(); round !== undefined && !this.#work.aborted; round = this.#heard.shift())
        await this.#follow(round, this.#take(round));
    } catch (error) {
      this.#ports.failed(error);
    } finally {
      this.#dealing = null;
    }
    this.#requestAgain();
  }

  #take(round: ObservedVotes): boolean | Promise<boolean> {
    const { clock } = this.#ports;
    this.#lastDueAt = Math.max(this.#lastDueAt, round.dueAt);
    this.#lastStart = clock.elapsed() - Math.max(0, clock.now() - round.startedAt);
    return this.#ports.rounds.take(this.#target, round);
  }

  async #follow(first: ObservedVotes, taken: boolean | Promise<boolean>): Promise<void> {
    const { nodes, rules } = this.#target;
    const asked = new Set<string>();
    let [round, wantsMore] = [first, await taken];
    for (let left = mostConfirmations(rules); ; left -= 1) {
      for (const { node } of round.votes) asked.add(node.name);
      if (!wantsMore || left === 0 || round.late !== undefined || !(await this.#pause())) return;
      const next = await this.#look(this.#extraDueAt(), withoutNodes(nodes, asked));
      if (next === null) return;
      [round, wantsMore] = [next, await this.#take(next)];
    }
  }

  async #lookBesides(): Promise<void> {
    const round = await this.#look(this.#extraDueAt(), this.#target.nodes);
    if (round !== null) await this.#follow(round, this.#take(round));
  }

  async #look(dueAt: number, nodes: NodeSelection): Promise<ObservedVotes | null> {
    const { runner, clock, log } = this.#ports;
    const { name, spec } = this.#target;
    const startedAt = clock.now();
    this.#lastStart = clock.elapsed();
    const request = { spec, nodes, round: { target: name, dueAt } };
    const votes = await collectVotes(runner, request, this.#work, clock, log);
    return this.#work.aborted ? null : { dueAt, startedAt, votes, isExtra: true };
  }

  // Not if the next scheduled round is as near: that one will tell.
  async #pause(): Promise<boolean> {
    const { clock } = this.#ports;
    const tookMs = clock.elapsed() - this.#lastStart;
    const due = this.#next(clock.now());
    if (this.#isStopped || this.#heard.length > 0) return false;
    if (due !== null && due - clock.now() < confirmAfterMs + tookMs) return false;
    const { signal } = (this.#pausing = new AbortController());
    try {
      if (!(await sleepUnlessAborted(clock, confirmAfterMs, signal))) return false;
      while (!this.#ports.rounds.mayBeginExtra()) {
        this.#isDeferred = true;
        const isNear = due !== null && due - clock.now() < tryEveryMs;
        if (isNear || this.#heard.length > 0 || !(await sleepUnlessAborted(clock, tryEveryMs, signal))) return false;
      }
      return true;
    } finally {
      this.#isDeferred = false;
      this.#pausing = null;
    }
  }

  // A scheduled round has come, and tells the same.
  #forgetDeferred(): void {
    this.#isDeferred = false;
    this.#pausing?.abort(new Error('a scheduled round has come'));
    this.#waiting?.[Symbol.dispose]();
    this.#waiting = null;
  }

  // Unlike any other due time, unless the clock was set back in between.
  #extraDueAt(): number {
    const now = this.#ports.clock.now();
    return this.#lastDueAt >= now && this.#lastDueAt < now + shortestGapMs ? this.#lastDueAt + 1 : now;
  }

  #startExtra(): void {
    this.#waiting = null;
    if (this.#isBusy || this.#isStopped) return;
    this.#isDeferred = !this.#ports.rounds.mayBeginExtra();
    if (this.#isDeferred) this.#waiting = this.#ports.clock.after(tryEveryMs, () => this.#startExtra());
    else this.#dealing ??= this.#deal(this.#lookBesides());
  }

  get #isBusy(): boolean {
    return this.#dealing !== null || this.#watched.underWay;
  }

  #awaitNext(): void {
    const { clock, events } = this.#ports;
    events.roundAwaited(this.#target, this.#next(clock.now()) ?? Number.POSITIVE_INFINITY);
  }
}

function mostConfirmations(rules: Target['rules']): number {
  return Math.max(0, ...rules.map(({ rule }) => (rule.confirm ? rule.rounds.bad - 1 : 0)));
}

function withoutNodes(nodes: NodeSelection, asked: ReadonlySet<string>): NodeSelection {
  return nodes.kind === 'count' ? { ...nodes, avoid: [...new Set([...nodes.avoid, ...asked])] } : nodes;
}
