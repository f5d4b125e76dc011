import { type NodeInfo, ownNodeName } from '#checks/index.ts';
import { type Clock, clockJitterMs } from '#kernel/clock.ts';
import { dayMs } from '#kernel/units.ts';
import { longestInterval } from '#schedule/schedule.ts';
import type { Assessor } from './assessment.ts';
import { type Memory, nothingRemembered } from './judge/decide.ts';
import type { HeartbeatState } from './judge/heard.ts';
import type { PingRound } from './heartbeats/listen.ts';
import { hasVerdict, statusByVotes } from './judge/round-verdict.ts';
import type { ShownVerdict } from './judge/round-record.ts';
import type { Target } from './judge/target.ts';
import type { Vote } from './judge/vote.ts';
import type { Recorder } from './recorder.ts';
import type { ExtraRounds } from './watch/extra-rounds.ts';
import type { Runner, ObservedVotes } from './watch/runner.ts';
import type { DoneRound, MonitorEvents } from './watch/watch.ts';

// What calls us is heard here, and nowhere else.
const listeningNode: NodeInfo = { name: ownNodeName, countryCode: '', country: '', city: '', asn: '', ip: '' };

/** Where rounds go: each is assessed, remembered and recorded, and may cause checks of other targets. */
export interface RoundHandler {
  /** Takes a round that is over. Gives whether another one at once would make sure of it, when that may be asked. */
  take(target: Target, round: ObservedVotes): boolean | Promise<boolean>;
  /** Stores the heartbeat state of a target, with the round that it made. Resolves to whether it is stored. */
  hear(target: Target, heard: HeartbeatState, round: PingRound | null): Promise<boolean>;
  /** Whether these votes are enough for a verdict. */
  hasVerdict(target: Target, votes: readonly Vote[]): boolean;
  /** Whether one besides the schedule may begin now; to be asked before each. */
  mayBeginExtra(): boolean;
  /** The verdict of a round of the past that is not judged any more, by the statuses of its votes; null while they are too few. */
  verdictOf(target: Target, dueAt: number, statuses: readonly Vote['outcome']['status'][]): ShownVerdict | null;
  /** The votes of the last round of a target that has an open incident, or null. */
  lastVotes(target: string): readonly Vote[] | null;
  /** A target is watched no more, and its last round is over. */
  forget(target: string): void;
}

export interface RoundHandlerOptions {
  readonly assessor: Assessor;
  /** What is remembered about each target; every round may change it. */
  readonly memories: Map<string, Memory>;
  readonly recorder: Recorder;
  readonly extraRounds: ExtraRounds;
  readonly runner: Pick<Runner, 'nodes'>;
  readonly events: Pick<MonitorEvents, 'roundDone' | 'unwatched'>;
  readonly clock: Clock;
}

// How long nodes may take to show up after a start.
const patienceMs = 600_000;
// One round may fail to come without its time being lost: what was seen last holds for so many intervals.
const intervalsHeld = 2;
const longestGapMs = dayMs;

export function createRounds(options: RoundHandlerOptions): RoundHandler {
  const { assessor, memories, recorder, extraRounds, runner, events, clock } = options;
  const startedAt = clock.now();
  const last = new Map<string, readonly Vote[]>();
  const holds = new WeakMap<Target, number>();

  function holdsMsOf(target: Target, now: number): number {
    const ms =
      holds.get(target) ?? intervalsHeld * (longestInterval(target.schedule, target.name, now) ?? longestGapMs);
    holds.set(target, ms);
    return ms;
  }

  function conclude(target: Target, round: ObservedVotes, heard?: HeartbeatState) {
    const { dueAt, startedAt: begun, votes, late, isRevision, isExtra } = round;
    const now = clock.now();
    const before = memories.get(target.name) ?? nothingRemembered;
    const { decision, inMaintenance, records, ask } = assessor.assess(target, before, { dueAt, votes, now, late });
    memories.set(target.name, decision.memory);
    if (decision.memory.openIncidents.size > 0) last.set(target.name, votes);
    else last.delete(target.name);
    for (const record of records) recorder.note(record);
    if (now - startedAt >= patienceMs) assessor.dropNodesBut(() => runner.nodes(), now);
    if (late === undefined) {
      extraRounds.ask(ask);
      extraRounds.askAgain(target.name);
    }
    const done: DoneRound = { dueAt, startedAt: begun, votes, verdict: decision.verdict, inMaintenance };
    events.roundDone(target, done);
    const heardToo = heard === undefined ? decision.record : { ...decision.record, heard };
    // The clock was set back meanwhile: a verdict of the future would hide all that come before it.
    if (dueAt > now + clockJitterMs) return { decision, record: heardToo };
    const verdict = { status: decision.verdict.status, inMaintenance, holdsMs: holdsMsOf(target, now) };
    // Rounds of the schedule may get a verdict later, by what nodes hold; one in between says nothing then.
    if (isExtra === true && verdict.status === 'unknown') return { decision, record: heardToo };
    assessor.budgets.note(target.name, dueAt, verdict);
    return { decision, record: { ...heardToo, verdict, ...(isRevision === true && { revisedAt: now }) } };
  }

  return {
    mayBeginExtra: () => extraRounds.mayBegin(),
    hasVerdict: (target, votes) => hasVerdict(target, votes, assessor.suspectedIn(votes, clock.now())),
    verdictOf(target, dueAt, statuses) {
      const status = statusByVotes(target, statuses, runner.nodes().length);
      if (status === null) return null;
      const inMaintenance = assessor.suppressions.isInMaintenance(target.name, dueAt);
      return { status, inMaintenance, holdsMs: holdsMsOf(target, dueAt) };
    },
    lastVotes: (target) => last.get(target) ?? null,
    forget(target) {
      memories.delete(target);
      last.delete(target);
      assessor.forget(target);
      events.unwatched(target);
    },
    take(target, round) {
      const { decision, record } = conclude(target, round);
      if (record.incidents.length > 0) return recorder.keep(record).then(() => decision.wantsConfirmation);
      recorder.note(record);
      return decision.wantsConfirmation;
    },
    async hear(target, heard, round) {
      if (round === null) {
        const dueAt = clock.now();
        return recorder.keep({
          target: target.name,
          dueAt,
          votes: [],
          states: [],
          incidents: [],
          deliveries: [],
          heard,
        });
      }
      const { dueAt, outcome } = round;
      const votes = [{ node: listeningNode, outcome }];
      return recorder.keep(conclude(target, { dueAt, startedAt: dueAt, votes }, heard).record);
    },
  };
}
