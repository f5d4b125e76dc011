import type { NodeInfo, Outcome } from '#checks/index.ts';
import { createNextDue, type NextDue, type Schedule } from '#schedule/schedule.ts';
import { Attendance, fault } from './attendance.ts';
import type { NodeStatus } from './ports.ts';
import type { NodeOutcome } from './runs.ts';

/** A round of a target as its nodes saw it. Times are wall time. */
export interface CollectedRound {
  readonly dueAt: number;
  /** When the first of its checks began. */
  readonly startedAt: number;
  readonly votes: readonly NodeOutcome[];
  /** Where it was over long ago. */
  readonly late?: Lateness | undefined;
}

/** Why something is heard of only now, and when it may be told: more of it may be on its way. */
export interface Lateness {
  readonly why: string;
  readonly tellFrom: number;
}

export interface RoundSink {
  /** Resolves once everything that follows from it has been seen to. */
  round(round: CollectedRound): Promise<void> | void;
  /** So many rounds were due and began nowhere. */
  skipped(count: number): void;
}

export interface RoundsOptions {
  readonly target: { readonly name: string; readonly schedule: Schedule };
  /** How long after it was due a round waits for its votes. */
  readonly limitMs: number;
  readonly sink: RoundSink;
  /** How a node is now; null where it is not there any more. */
  readonly statusOf: (node: string) => NodeStatus | null;
}

// Nobody needs the exact count of more, and counting must not hold up the others.
const mostCounted = 10_000;

/** What became of a vote. */
export type Taken = 'taken' | 'repeated' | 'late' | 'uncalled';

/** The rounds of one target, from the first vote on each to its end. */
export interface TargetRounds {
  /** That of the target. */
  readonly name: string;
  /** The nodes that have a vote from now on. */
  voters: readonly NodeInfo[];
  isVoter(node: string): boolean;
  /** Every due time of this node after `since` is kept or passed over; null where none is. */
  keeps(node: string, since: number | null): void;
  /** `isCalled` says whether the node was told to watch this; what is late is late, whoever saw it. */
  take(node: NodeInfo, dueAt: number, outcome: Outcome, startedAt: number, isCalled?: boolean): Taken;
  /** This node does not come to what is due then. */
  passOver(node: string, dueAt: number): void;
  /** Ends the rounds that are complete or past their limit, in the order in which they were due, up to `until`. */
  judge(now: number, until: number): void;
  /** Due times of rounds up to `until` that have a vote and are not over, for whoever judges several targets in order. */
  openUntil(until: number): readonly number[];
  /** Ends such a round now, with the votes that it has, and says why it comes so late; what was due before it is let go. */
  endLate(dueAt: number, late: Lateness): Promise<void> | void;
  /** The next due time whose round is not over. */
  readonly awaited: number;
  /** Every round up to this moment is over, whatever comes. */
  letGo(moment: number): void;
  /** From now on it is due by this schedule. */
  follow(schedule: Schedule): void;
  /** Has the round over that is the next one, and that nobody has voted on, and counts it; false where it is another one. */
  leaveOut(dueAt: number): boolean;
  /** The wall clock was set back: what is due from now on has not been. */
  reset(now: number): void;
  /**
   * This process saw nothing of the time until `moment`: its rounds have as long as if they were due then. Where nodes kept what they
   * saw meanwhile, no round of that time is over for it.
   */
  forgive(moment: number, isKept: boolean): void;
}

/**
 * Collects votes to rounds, in order of their due times. A round is over when every node that was to vote has, or at its limit;
 * who is missing is unknown, with the reason. A node that votes on a later round, or says that it watches since later, passes over
 * the one before. Rounds that began nowhere are counted, unless all its nodes are away: that is a round of unknowns.
 * `over` is a moment up to which every round is over already.
 */
export function collectRounds(options: RoundsOptions, over: number): TargetRounds {
  return new Rounds(options, over);
}

// A class, for there is one of it for each target: a closure for each method would weigh two kilobytes.
class Rounds implements TargetRounds {
  readonly name: string;
  readonly #options: RoundsOptions;
  #next: NextDue;
  readonly #attendance: Attendance;
  readonly #open = new Map<number, Map<string, NodeOutcome>>();
  #voters: readonly NodeInfo[] = [];
  #overUntil: number;
  #awaited: number;
  #forgivenUntil = Number.NEGATIVE_INFINITY;

  constructor(options: RoundsOptions, over: number) {
    const { target, limitMs, statusOf } = options;
    this.name = target.name;
    this.#options = options;
    this.#next = createNextDue(target.schedule, target.name);
    this.#attendance = new Attendance(statusOf, limitMs);
    this.#overUntil = over;
    this.#awaited = this.#dueAfter(over);
  }

  get voters(): readonly NodeInfo[] {
    return this.#voters;
  }

  set voters(nodes: readonly NodeInfo[]) {
    this.#voters = nodes;
    this.#attendance.keepsOnly(new Set(nodes.map(({ name }) => name)));
  }

  isVoter(node: string): boolean {
    for (const { name } of this.#voters) if (name === node) return true;
    return false;
  }

  keeps(node: string, moment: number | null): void {
    this.#attendance.keeps(node, moment);
  }

  take(node: NodeInfo, dueAt: number, outcome: Outcome, startedAt: number, isCalled = true): Taken {
    if (dueAt <= this.#overUntil) return 'late';
    if (!isCalled) return 'uncalled';
    let votes = this.#open.get(dueAt);
    if (votes === undefined) this.#open.set(dueAt, (votes = new Map()));
    if (votes.has(node.name)) return 'repeated';
    votes.set(node.name, { node, outcome, startedAt });
    this.#attendance.passUntil(node.name, dueAt);
    return 'taken';
  }

  passOver(node: string, dueAt: number): void {
    this.#attendance.passUntil(node, dueAt + 1);
  }

  judge(now: number, until: number): void {
    for (let dueAt = this.awaited; dueAt <= until && dueAt <= now; dueAt = this.awaited) {
      const limited = now >= Math.max(dueAt, this.#forgivenUntil) + this.#options.limitMs;
      if (!limited && this.#attendance.awaitsAny(this.#voters, this.#open.get(dueAt), dueAt)) return;
      this.#finish(dueAt, limited);
    }
  }

  endLate(dueAt: number, late: Lateness): Promise<void> | void {
    const votes = this.#open.get(dueAt);
    this.letGo(dueAt);
    const missing = (node: NodeInfo) => fault(node, 'no_answer', 'nothing came from the node of this time');
    if (votes === undefined) return;
    return this.#options.sink.round({ ...roundOf({ dueAt, voters: this.#voters, votes, missing }), late });
  }

  openUntil(until: number): readonly number[] {
    return [...this.#open.keys()].filter((dueAt) => dueAt <= until);
  }

  get awaited(): number {
    return Math.min(this.#awaited, this.#earliestOpen());
  }

  letGo(moment: number): void {
    if (this.#open.size > 0) for (const dueAt of this.#open.keys()) if (dueAt <= moment) this.#open.delete(dueAt);
    if (moment <= this.#overUntil) return;
    this.#overUntil = moment;
    this.#awaited = this.#dueAfter(moment);
  }

  follow(schedule: Schedule): void {
    this.#next = createNextDue(schedule, this.name);
    this.#awaited = this.#dueAfter(this.#overUntil);
  }

  leaveOut(dueAt: number): boolean {
    if (dueAt !== this.#awaited || this.#earliestOpen() <= dueAt) return false;
    this.letGo(dueAt);
    this.#options.sink.skipped(1);
    return true;
  }

  reset(now: number): void {
    this.#open.clear();
    this.#attendance.forgetPassed();
    this.#overUntil = now;
    this.#awaited = this.#dueAfter(now);
  }

  forgive(moment: number, isKept: boolean): void {
    this.#forgivenUntil = Math.max(this.#forgivenUntil, moment);
    if (isKept) return;
    const earliestOpen = this.#earliestOpen();
    let count = 0;
    for (
      let due = this.#awaited;
      this.#dueAfter(due) <= moment && due < earliestOpen && count < mostCounted;
      count += 1
    ) {
      due = this.#dueAfter(due);
      this.#overUntil = due - 1;
      this.#awaited = due;
    }
    if (count > 0) this.#options.sink.skipped(count);
    if (count === mostCounted) this.letGo(moment);
  }

  #dueAfter(moment: number): number {
    return this.#next(moment) ?? Number.POSITIVE_INFINITY;
  }

  #earliestOpen(): number {
    let first = Number.POSITIVE_INFINITY;
    if (this.#open.size > 0) for (const dueAt of this.#open.keys()) if (dueAt < first) first = dueAt;
    return first;
  }

  #finish(dueAt: number, limited: boolean): void {
    const { sink } = this.#options;
    const voters = this.#voters;
    const attendance = this.#attendance;
    const votes = this.#open.get(dueAt) ?? new Map<string, NodeOutcome>();
    this.letGo(dueAt);
    if (votes.size === 0 && voters.length > 0) {
      if (dueAt <= this.#forgivenUntil) return sink.skipped(1);
      const idle = voters.filter(
        ({ name }) => attendance.isThere(name) && (!limited || !attendance.isAwaited(name, dueAt)),
      );
      if (idle.length === voters.length) {
        if (idle.some(({ name }) => attendance.isPassed(name, dueAt))) sink.skipped(1);
        return;
      }
    }
    void sink.round(roundOf({ dueAt, voters, votes, missing: (node) => attendance.missing(node, dueAt) }));
  }
}

interface Ending {
  readonly dueAt: number;
  readonly voters: readonly NodeInfo[];
  readonly votes: ReadonlyMap<string, NodeOutcome>;
  /** The vote of a node that gave none. */
  readonly missing: (node: NodeInfo) => NodeOutcome;
}

function roundOf({ dueAt, voters, votes, missing }: Ending): CollectedRound {
  let heard = 0;
  // Kept until the next round: a list that grew would have room for sixteen more.
  const all = voters.map((node) => {
    const vote = votes.get(node.name);
    if (vote !== undefined) heard += 1;
    return vote ?? missing(node);
  });
  if (heard < votes.size) {
    const names = new Set(voters.map(({ name }) => name));
    for (const vote of votes.values()) if (!names.has(vote.node.name)) all.push(vote);
  }
  let startedAt = Number.POSITIVE_INFINITY;
  for (const vote of votes.values())
    if (vote.startedAt !== undefined && vote.startedAt < startedAt) startedAt = vote.startedAt;
  return { dueAt, startedAt: startedAt === Number.POSITIVE_INFINITY ? dueAt : startedAt, votes: all };
}
