import type { NodeInfo, Outcome } from '#checks/index.ts';
import { countDues, createNextDue, type NextDue, type Schedule } from '#schedule/schedule.ts';
import { Attendance, type AttendanceOptions, fault } from './attendance.ts';
import { OpenRound } from './open-rounds.ts';
import type { NodeOutcome } from './runs.ts';
import type {
  CollectedRound,
  LateRounds,
  RoundMarks,
  RoundSink,
  TargetRounds,
  VoteReception,
} from './target-rounds.ts';
import { roundOf } from './round-of.ts';
import { RoundsByDue } from './rounds-by-due.ts';
import { UndecidedRounds } from './undecided-rounds.ts';

export interface RoundCollectorOptions extends AttendanceOptions {
  readonly target: { readonly name: string; readonly schedule: Schedule };
  readonly sink: RoundSink;
  /** Whether this was due by a clock that was ahead and has been set back since. */
  readonly isAhead?: (dueAt: number) => boolean;
  /** Called before a round is handed on with the votes that it has; what comes later is not part of it. */
  readonly onJudged?: (target: string, dueAt: number) => void;
}

// More missed rounds than these are passed over in one step.
const mostOneByOne = 100;

/**
 * Collects votes to rounds, in order of their due times. A round is over when every node that was to vote has, or at its limit;
 * who is missing is unknown, with the reason. A node that votes on a later round, or says that it watches since later, passes over
 * the one before. Rounds that began nowhere are counted, unless all its nodes are away: that is a round of unknowns.
 * A round that ended without a verdict takes the votes of nodes that could not be heard, until a later round has one.
 * `marks` say how far the rounds have come before. While nodes may still go on with the assignment of another process, a round from
 * before they say that they watch waits as long as any, although it is no fault of theirs if nothing comes.
 */
export function collectRounds(options: RoundCollectorOptions, marks: RoundMarks): TargetRounds {
  return new RoundCollector(options, marks);
}

// A class, for there is one of it for each target: a closure for each method would weigh two kilobytes.
class RoundCollector implements TargetRounds {
  readonly name: string;
  readonly #options: RoundCollectorOptions;
  #next: NextDue;
  readonly #attendance: Attendance;
  readonly #continuedUntil: number;
  #open = new RoundsByDue<OpenRound>();
  #voters: readonly NodeInfo[] = [];
  #undecided: UndecidedRounds | null = null;
  #overUntil: number;
  #decidedUntil: number;
  #awaited: number;
  #forgivenUntil = Number.NEGATIVE_INFINITY;

  constructor(
    options: RoundCollectorOptions,
    { over, decided, continuedUntil = Number.NEGATIVE_INFINITY }: RoundMarks,
  ) {
    const { target } = options;
    this.name = target.name;
    this.#options = options;
    this.#next = createNextDue(target.schedule, target.name);
    this.#attendance = new Attendance(options);
    this.#continuedUntil = continuedUntil;
    this.#overUntil = over;
    this.#decidedUntil = decided;
    this.#awaited = this.#dueAfter(over);
  }

  get voters(): readonly NodeInfo[] {
    return this.#voters;
  }

  set voters(nodes: readonly NodeInfo[]) {
    const isSame =
      nodes.length === this.#voters.length && nodes.every((node, at) => node.name === this.#voters[at]?.name);
    this.#voters = nodes;
    if (isSame) return;
    this.#attendance.keepsOnly(new Set(nodes.map(({ name }) => name)));
  }

  isVoter(node: string): boolean {
    for (const { name } of this.#voters) if (name === node) return true;
    return false;
  }

  keeps(node: string, moment: number | null): void {
    this.#attendance.keeps(node, moment);
  }

  take(node: NodeInfo, dueAt: number, outcome: Outcome, startedAt: number, isCalled = true): VoteReception {
    if (dueAt <= this.#decidedUntil) return 'late';
    // A node that seemed to have come so far would not be awaited until then.
    if (!isCalled || this.#options.isAhead?.(dueAt) === true) return 'uncalled';
    if (dueAt <= this.#overUntil)
      return (this.#undecided ??= new UndecidedRounds()).add(dueAt, { node, outcome, startedAt });
    let round = this.#open.find(dueAt);
    if (round === undefined) this.#open.add((round = new OpenRound(dueAt, this.#voters.length)));
    if (round.has(node.name)) return 'repeated';
    round.add(node, outcome, startedAt);
    this.#attendance.passUntil(node.name, dueAt);
    return 'taken';
  }

  passOver(node: string, dueAt: number): void {
    if (this.#options.isAhead?.(dueAt) !== true) this.#attendance.passUntil(node, dueAt + 1);
  }

  judge(now: number, until: number, readUntil = now): number {
    let left = mostOneByOne;
    for (let dueAt = this.awaited; dueAt <= until && dueAt <= now; dueAt = this.awaited) {
      const limit = Math.max(dueAt, this.#forgivenUntil) + this.#options.limitMs;
      const limited = readUntil >= limit;
      // Until nodes have said since when they watch, it may be over at any moment.
      if (!limited && this.#awaitsAny(dueAt)) return dueAt <= this.#continuedUntil ? now : limit;
      // A node that went away may have voted before.
      if (dueAt > readUntil && !this.#attendance.hasHeardAll(this.#voters, this.#open.find(dueAt), dueAt)) return now;
      this.#finish(dueAt, limited);
      left -= 1;
      if (left <= 0) this.#skipForgiven(Math.min(until, now), limited);
    }
    return this.awaited;
  }

  endLate(dueAt: number, late: LateRounds): Promise<void> | void {
    const isRevision = dueAt <= this.#overUntil;
    const votes = isRevision ? this.#undecided?.close(dueAt) : this.#open.find(dueAt)?.votes();
    if (!isRevision) this.letGo(dueAt);
    if (votes === undefined) return;
    const attendance = this.#attendance;
    const missing = (node: NodeInfo) =>
      attendance.isShed(node.name, dueAt)
        ? attendance.missing(node, dueAt)
        : fault(node, 'no_answer', 'nothing came from the node of this time');
    const round = roundOf({ dueAt, voters: this.#voters, votes, missing });
    this.#settle(dueAt, votes, round.votes);
    return this.#hand({ ...round, late, ...(isRevision && { isRevision }) });
  }

  openUntil(until: number): readonly number[] {
    const open = this.#open.all().map(({ dueAt }) => dueAt);
    return [...(this.#undecided?.reopened ?? []), ...open].filter((dueAt) => dueAt <= until);
  }

  get decided(): number {
    return this.#decidedUntil;
  }

  get isUndecided(): boolean {
    return this.#decidedUntil < this.#overUntil;
  }

  abandon(until: number): void {
    this.#decidedUntil = Math.max(this.#decidedUntil, until);
    this.#undecided?.dropUntil(until);
  }

  get awaited(): number {
    return Math.min(this.#awaited, this.#open.firstDueAt);
  }

  letGo(moment: number): void {
    this.#open.dropUntil(moment);
    if (moment <= this.#overUntil) return;
    this.#overUntil = moment;
    this.#awaited = this.#dueAfter(moment);
  }

  follow(schedule: Schedule): void {
    this.#next = createNextDue(schedule, this.name);
    this.#awaited = this.#dueAfter(this.#overUntil);
  }

  leaveOut(dueAt: number): boolean {
    if (dueAt !== this.#awaited || this.#open.firstDueAt <= dueAt) return false;
    this.letGo(dueAt);
    this.abandon(dueAt);
    this.#options.sink.skipped(1);
    return true;
  }

  reset(now: number): void {
    this.#open = new RoundsByDue();
    this.#undecided = null;
    this.#attendance.reset(now);
    this.#forgivenUntil = Number.NEGATIVE_INFINITY;
    this.#overUntil = now;
    this.#decidedUntil = now;
    this.#awaited = this.#dueAfter(now);
  }

  extendDeadline(moment: number, isKept: boolean): void {
    this.#forgivenUntil = Math.max(this.#forgivenUntil, moment);
    if (isKept) return;
    const earliestOpen = this.#open.firstDueAt;
    let count = 0;
    let due = this.#dueAfter(this.#awaited);
    for (; due <= moment && this.#awaited < earliestOpen && count < mostOneByOne; due = this.#dueAfter(due)) {
      this.#overUntil = due - 1;
      this.#awaited = due;
      count += 1;
    }
    if (count === mostOneByOne) this.#skipUntil(Math.min(moment, earliestOpen - 1));
    if (count > 0) this.#options.sink.skipped(count);
  }

  #skipForgiven(until: number, limited: boolean): void {
    const moment = Math.min(this.#forgivenUntil, this.#open.firstDueAt - 1, until);
    if (limited || !this.#awaitsAny(moment)) this.#skipUntil(moment);
  }

  #skipUntil(moment: number): void {
    if (moment <= this.#overUntil) return;
    this.#options.sink.skipped(countDues(this.#next, this.#overUntil, moment));
    this.letGo(moment);
  }

  #awaitsAny(dueAt: number): boolean {
    const votes = this.#open.find(dueAt);
    if (this.#attendance.awaitsAny(this.#voters, votes, dueAt)) return true;
    return dueAt <= this.#continuedUntil && this.#attendance.mayContinueAny(this.#voters, votes, dueAt);
  }

  #dueAfter(moment: number): number {
    return this.#next(moment) ?? Number.POSITIVE_INFINITY;
  }

  #finish(dueAt: number, limited: boolean): void {
    const { sink } = this.#options;
    const voters = this.#voters;
    const attendance = this.#attendance;
    const votes = this.#open.find(dueAt)?.votes() ?? new Map<string, NodeOutcome>();
    this.letGo(dueAt);
    if (votes.size === 0 && voters.length > 0) {
      if (dueAt <= this.#forgivenUntil) return sink.skipped(1);
      const idle = attendance.idleOf(voters, dueAt, limited);
      if (idle === 'skipped') sink.skipped(1);
      if (idle !== null) return;
    }
    const round = roundOf({
      dueAt,
      voters: this.#countedVoters(dueAt, votes),
      votes,
      missing: (node) => attendance.missing(node, dueAt, dueAt <= this.#forgivenUntil),
    });
    this.#settle(dueAt, votes, round.votes);
    void this.#hand(round);
  }

  #hand(round: CollectedRound): Promise<void> | void {
    this.#options.onJudged?.(this.name, round.dueAt);
    return this.#options.sink.round(round);
  }

  // Only healthy results are skipped: a round in which all others are up too is up without them.
  #countedVoters(dueAt: number, votes: ReadonlyMap<string, NodeOutcome>): readonly NodeInfo[] {
    const voters = this.#voters;
    if (votes.size === 0 || votes.size >= voters.length) return voters;
    for (const { outcome } of votes.values()) if (outcome.status !== 'up') return voters;
    const attendance = this.#attendance;
    const isSkipped = ({ name }: NodeInfo) => attendance.isThere(name) && attendance.isShed(name, dueAt);
    return voters.filter((node) => votes.has(node.name) || !isSkipped(node));
  }

  // A node that was not heard, or not in time, may hold its vote still: without a verdict there is room for it.
  #settle(dueAt: number, votes: ReadonlyMap<string, NodeOutcome>, all: readonly NodeOutcome[]): void {
    const attendance = this.#attendance;
    const mayCome = ({ name }: NodeInfo) =>
      !votes.has(name) && !attendance.isPassed(name, dueAt) && !attendance.isShed(name, dueAt);
    if (!this.#voters.some(mayCome) || this.#options.sink.hasVerdict(all)) {
      if (dueAt <= this.#decidedUntil) return;
      this.#decidedUntil = dueAt;
      this.#undecided?.dropUntil(dueAt);
      if (this.#undecided?.isEmpty === true) this.#undecided = null;
    } else if (votes.size > 0) (this.#undecided ??= new UndecidedRounds()).keep(dueAt, votes);
  }
}
