import { failed, failure, type NodeInfo, type Outcome } from '#checks/index.ts';
import { createNextDue, type NextDue, type Schedule } from '#schedule/schedule.ts';
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
export function collectRounds({ target, limitMs, sink, statusOf }: RoundsOptions, over: number): TargetRounds {
  const next: NextDue = createNextDue(target.schedule, target.name);
  const attendance = createAttendance(statusOf, limitMs);
  const open = new Map<number, Map<string, NodeOutcome>>();
  let voters: readonly NodeInfo[] = [];
  let overUntil = over;
  let awaited = dueAfter(over);
  let forgivenUntil = Number.NEGATIVE_INFINITY;

  function dueAfter(moment: number): number {
    return next(moment) ?? Number.POSITIVE_INFINITY;
  }

  function letGo(moment: number): void {
    for (const dueAt of open.keys()) if (dueAt <= moment) open.delete(dueAt);
    if (moment <= overUntil) return;
    overUntil = moment;
    awaited = dueAfter(moment);
  }

  function earliestOpen(): number {
    let first = Number.POSITIVE_INFINITY;
    for (const dueAt of open.keys()) first = Math.min(first, dueAt);
    return first;
  }

  const earliest = () => Math.min(awaited, earliestOpen());

  function finish(dueAt: number, limited: boolean): void {
    const votes = open.get(dueAt) ?? new Map<string, NodeOutcome>();
    letGo(dueAt);
    if (votes.size === 0 && voters.length > 0) {
      if (dueAt <= forgivenUntil) return sink.skipped(1);
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

  return {
    name: target.name,
    get voters() {
      return voters;
    },
    set voters(nodes) {
      voters = nodes;
      attendance.keepsOnly(new Set(nodes.map(({ name }) => name)));
    },
    keeps: (node, moment) => attendance.keeps(node, moment),
    take(node, dueAt, outcome, startedAt, isCalled = true) {
      if (dueAt <= overUntil) return 'late';
      if (!isCalled) return 'uncalled';
      let votes = open.get(dueAt);
      if (votes === undefined) open.set(dueAt, (votes = new Map()));
      if (votes.has(node.name)) return 'repeated';
      votes.set(node.name, { node, outcome, startedAt });
      attendance.passUntil(node.name, dueAt);
      return 'taken';
    },
    passOver: (node, dueAt) => attendance.passUntil(node, dueAt + 1),
    judge(now, until) {
      for (let dueAt = earliest(); dueAt <= until && dueAt <= now; dueAt = earliest()) {
        const votes = open.get(dueAt);
        const isComplete = voters.every(({ name }) => votes?.has(name) === true || !attendance.isAwaited(name, dueAt));
        const limited = now >= Math.max(dueAt, forgivenUntil) + limitMs;
        if (!isComplete && !limited) return;
        finish(dueAt, limited);
      }
    },
    endLate(dueAt, late) {
      const votes = open.get(dueAt);
      letGo(dueAt);
      const missing = (node: NodeInfo) => fault(node, 'no_answer', 'nothing came from the node of this time');
      if (votes !== undefined) return sink.round({ ...roundOf({ dueAt, voters, votes, missing }), late });
    },
    openUntil: (until) => [...open.keys()].filter((dueAt) => dueAt <= until),
    get awaited() {
      return earliest();
    },
    letGo,
    reset(now) {
      open.clear();
      attendance.forgetPassed();
      overUntil = now;
      awaited = dueAfter(now);
    },
    forgive(moment, isKept) {
      forgivenUntil = Math.max(forgivenUntil, moment);
      if (isKept) return;
      let count = 0;
      for (let due = awaited; dueAfter(due) <= moment && due < earliestOpen() && count < mostCounted; count += 1) {
        due = dueAfter(due);
        overUntil = due - 1;
        awaited = due;
      }
      if (count > 0) sink.skipped(count);
      if (count === mostCounted) letGo(moment);
    },
  };
}

interface Ending {
  readonly dueAt: number;
  readonly voters: readonly NodeInfo[];
  readonly votes: ReadonlyMap<string, NodeOutcome>;
  /** The vote of a node that gave none. */
  readonly missing: (node: NodeInfo) => NodeOutcome;
}

function roundOf({ dueAt, voters, votes, missing }: Ending): CollectedRound {
  const all = voters.map((node) => votes.get(node.name) ?? missing(node));
  const names = new Set(voters.map(({ name }) => name));
  const others = [...votes.values()].filter(({ node }) => !names.has(node.name));
  const starts = [...votes.values()].flatMap(({ startedAt }) => startedAt ?? []);
  const startedAt = starts.length > 0 ? Math.min(...starts) : dueAt;
  return { dueAt, startedAt, votes: [...all, ...others] };
}

/** Which nodes of a target are to be waited for. */
function createAttendance(statusOf: RoundsOptions['statusOf'], limitMs: number) {
  const since = new Map<string, number>();
  const passed = new Map<string, number>();

  const isPassed = (node: string, dueAt: number) => (passed.get(node) ?? Number.NEGATIVE_INFINITY) > dueAt;
  const isWatching = (node: string, dueAt: number) => (since.get(node) ?? Number.POSITIVE_INFINITY) < dueAt;

  return {
    isPassed,
    keeps(node: string, moment: number | null): void {
      if (moment === null) since.delete(node);
      else if (!since.has(node)) since.set(node, moment);
    },
    keepsOnly(nodes: ReadonlySet<string>): void {
      for (const name of since.keys()) if (!nodes.has(name)) since.delete(name);
    },
    passUntil(node: string, dueAt: number): void {
      passed.set(node, Math.max(dueAt, passed.get(node) ?? Number.NEGATIVE_INFINITY));
    },
    forgetPassed: () => passed.clear(),
    isThere(node: string): boolean {
      const status = statusOf(node);
      return status !== null && (status.online || status.starting === true);
    },
    isAwaited: (node: string, dueAt: number) =>
      statusOf(node)?.online === true && isWatching(node, dueAt) && !isPassed(node, dueAt),
    /** The vote of a node that gave none. */
    missing(node: NodeInfo, dueAt: number): NodeOutcome {
      const status = statusOf(node.name);
      if (status?.online !== true)
        return fault(node, 'gone', `the node is offline: ${status?.reason ?? 'it is not there'}`);
      if (isPassed(node.name, dueAt))
        return fault(node, 'busy', 'the node did not come to this check before the next one');
      if (!isWatching(node.name, dueAt)) return fault(node, 'gone', 'the node did not watch this target yet');
      return fault(node, 'no_answer', `the node did not answer within ${limitMs} ms`);
    },
  };
}

function fault(node: NodeInfo, code: 'gone' | 'no_answer' | 'busy', message: string): NodeOutcome {
  return { node, outcome: failed(failure('node', code, message)) };
}
