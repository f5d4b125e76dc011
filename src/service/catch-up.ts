import type { Clock } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import type { RoundKey } from '#protocol/run-name.ts';
import type { LateRounds, RoundMarks, TargetRounds } from './target-rounds.ts';
import { createUnjudgedReport, type UnjudgedReportOptions, type UnjudgedPeriod } from './unjudged.ts';

/** What nodes may have observed while nothing was judged here. */
export interface HubAbsence {
  /** How far the stored rounds of a target had come when this process began; null if there are none. */
  lastRound(target: string): RoundMarks | null;
  /** Whether a process before this one has stored rounds: only then do nodes go on with what it assigned. */
  readonly wasThere: boolean;
  /** Whether nodes have sent everything that they hold, as far as is known. */
  isOver(): boolean;
  /** For how long nodes could be heard, in milliseconds; 0 while none can. */
  connectedMs(): number;
  /** Whether another process judged until a moment ago and handed over: what nodes observed meanwhile is not late. */
  isBrief?(): boolean;
  /** Asks nodes to send again what they hold; `isOver` is false until they have. */
  refresh?(): void;
}

/** Why nothing was judged: this process did not run, it stood still, or it could not hear its nodes. */
export type AbsenceCause = 'stopped' | 'frozen' | 'unreachable';

/** Gathers what nodes observed during an absence, and has it judged in order of due time across all targets before live rounds. */
export interface CatchUp {
  /** When this process began. */
  readonly beganAt: number;
  /** After how long `look` should be called again. */
  lookMs(): number;
  /** How far the rounds of a target have come before. */
  marksOf(target: string): RoundMarks;
  /** A watch of this target is over, and nothing that is due after `until` belongs to it: the next one goes on from there. */
  ended(target: string, until: number): void;
  /** Whether live rounds of a target have to wait. */
  holds(rounds: TargetRounds): boolean;
  /** A vote came for a round that was due then: more of an absence may follow, and does if the round had ended before. */
  heard(rounds: TargetRounds, dueAt: number, isReopened: boolean): void;
  /** An absence is over for these targets. */
  begin(cause: AbsenceCause, targets: readonly TargetRounds[]): void;
  /** To be called every second or so (`lookMs`): judges what was gathered once it is complete, or after less than a minute. */
  look(targets: () => readonly TargetRounds[]): void;
  /** A vote came after its round was over. */
  late(round: RoundKey): void;
  /** The wall clock was set back to `now`: what is due from then on belongs to no absence. */
  reset(now: number): void;
}

export interface CatchUpOptions extends Pick<UnjudgedReportOptions, 'transport'> {
  readonly absence: HubAbsence | null;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when live rounds of these targets wait no longer. */
  readonly onOver: () => void;
  /** Called once if there was more than could be judged, when all of it is here or after some minutes. */
  readonly onUnjudged: (unjudged: UnjudgedPeriod) => void;
}

interface AbsenceGathering {
  cause: AbsenceCause;
  /** When it began, by the monotonic clock. */
  began: number;
  /** Rounds that were due by then belong to the absence. */
  until: number;
  /** Null for all targets. */
  readonly members: Set<TargetRounds> | null;
  /** When a vote of the absence last came, by the monotonic clock. */
  heardAt: number;
  isJudging: boolean;
}

// Live rounds never wait longer for what is over, nor for a connection.
const longestMs = 60_000;
const longestGatheringMs = 40_000;
// Over a connection that came late, or comes and goes.
const longestUnsteadyMs = 80_000;
const leastJudgingMs = 20_000;
// A node that is back sends what it holds in several messages.
const shortestGatheringMs = 3_000;
const quietMs = 2_000;
// Time to catch up with the end of what began, so that both are one message.
const notifyAfterMs = 10_000;
// As long as nodes that are connected may take to report.
const assignedWithinMs = 15_000;
const atOnce = 100;
const usualLookMs = 1_000;
const briefLookMs = 50;

/** `cut off`: nodes had time to send all that they hold. `not connected`: they had not. */
type Readiness = 'complete' | 'cut off' | 'not connected';

const reasons: Readonly<Record<AbsenceCause, string>> = {
  stopped: 'the monitor was away when it happened',
  frozen: 'the monitor was frozen when it happened',
  unreachable: 'the monitor could not hear its nodes when it happened',
};

function newGathering(clock: Clock, cause: AbsenceCause, members: Set<TargetRounds> | null): AbsenceGathering {
  const began = clock.elapsed();
  return { cause, began, until: clock.now(), members, heardAt: Number.NEGATIVE_INFINITY, isJudging: false };
}

function endBy(gatherings: readonly (AbsenceGathering | null)[], now: number): void {
  for (const one of gatherings) if (one !== null) one.until = Math.min(one.until, now);
}

function marksFrom(absence: HubAbsence | null, target: string, beganAt: number, from: number): RoundMarks {
  // Nothing was missed: the rounds of a target that is new, or watched anew, begin with it.
  if (absence === null) return { over: from, decided: from };
  const known = absence.lastRound(target);
  const over = Math.min(beganAt, known?.over ?? from);
  const marks = { over, decided: Math.min(over, known?.decided ?? over) };
  // The process before may have assigned this one too, and have ended before any of its rounds was stored.
  return absence.wasThere ? { ...marks, continuedUntil: beganAt + assignedWithinMs } : marks;
}

// What was sent may wait here to be read.
function readinessOf(
  { cause, began, heardAt }: AbsenceGathering,
  absence: HubAbsence | null,
  elapsed: number,
): Readiness | null {
  const waited = elapsed - began;
  const isQuiet = elapsed - heardAt >= quietMs;
  const hadTime = cause === 'stopped' || waited >= shortestGatheringMs;
  if (absence?.isOver() !== false && isQuiet && hadTime) return 'complete';
  const connectedMs = absence?.connectedMs() ?? waited;
  if (Math.min(waited, connectedMs) >= longestGatheringMs) return 'cut off';
  return waited >= (connectedMs === 0 ? longestGatheringMs : longestUnsteadyMs) ? 'not connected' : null;
}

export function createCatchUp({ absence, clock, log, onOver, transport, onUnjudged }: CatchUpOptions): CatchUp {
  const beganAt = clock.now();
  // Where the last watch of each target ended: the next one begins within the same turn, or without it.
  const ends = new Map<string, number>();
  const isComplete = () => absence?.isOver() !== false;
  const unjudged = createUnjudgedReport({ clock, log, isComplete, transport, onUnjudged });
  let current = absence === null ? null : newGathering(clock, 'stopped', null);
  // What came back while the one before was being judged.
  let next: AbsenceGathering | null = null;
  let isStarting = absence !== null;
  let isBrief = absence?.isBrief?.() === true;

  const includes = (gathering: AbsenceGathering | null, rounds: TargetRounds) =>
    gathering !== null && (gathering.members === null || gathering.members.has(rounds));

  const isBriefOver = ({ began }: AbsenceGathering) =>
    absence?.isOver() !== false || clock.elapsed() - began >= shortestGatheringMs;

  async function judge(gathering: AbsenceGathering, targets: readonly TargetRounds[], ready: Readiness): Promise<void> {
    const late: LateRounds = { why: reasons[gathering.cause], notifyFrom: clock.now() + notifyAfterMs };
    const rounds = targets
      .flatMap((rounds) => rounds.openUntil(gathering.until).map((dueAt) => ({ rounds, target: rounds.name, dueAt })))
      .toSorted((a, b) => a.dueAt - b.dueAt);
    const before = targets.map(({ name, decided }) => ({ name, decided }));
    let left = rounds.length;
    const judgeUntil = Math.max(gathering.began + longestMs, clock.elapsed() + leastJudgingMs);
    for (const [index, { rounds: own, ...round }] of rounds.entries()) {
      if (index % atOnce === atOnce - 1) await new Promise<void>((resolve) => clock.after(0, resolve));
      if (clock.elapsed() > judgeUntil) break;
      unjudged.judged(round);
      await own.endLate(round.dueAt, late);
      left -= 1;
    }
    const hasLost = unjudged.hasLost(Math.min(...before.map(({ decided }) => decided)));
    if (ready !== 'complete' || left > 0 || hasLost) unjudged.open(before, gathering.until);
    for (const round of rounds.slice(rounds.length - left)) unjudged.note(round);
    for (const target of targets) {
      if (gathering.cause === 'stopped') target.letGo(gathering.until);
      if (gathering.cause === 'frozen') target.extendDeadline(gathering.until, false);
      // What nodes could not send is judged when it comes, as after any loss of the connection.
      if (ready === 'cut off' || left > 0) target.abandon(gathering.until);
    }
    if (rounds.length > 0)
      log.info(
        { rounds: rounds.length - left, cause: gathering.cause },
        'judged what nodes observed during an absence',
      );
  }

  function begin(cause: AbsenceCause, targets: readonly TargetRounds[]): void {
    if (targets.length === 0) return;
    const isBusy = current?.isJudging === true;
    const gathering = (isBusy ? next : current) ?? newGathering(clock, cause, new Set());
    if (isBusy) next = gathering;
    else current = gathering;
    const before = gathering.members?.size;
    for (const target of targets) gathering.members?.add(target);
    if (cause === 'frozen' || gathering.members?.size !== before) gathering.until = clock.now();
    if (cause !== 'frozen') return;
    // Nothing could come meanwhile.
    gathering.began = clock.elapsed();
    if (gathering.cause !== 'stopped') gathering.cause = cause;
  }

  function end(): void {
    current = next;
    next = null;
    isStarting = false;
    isBrief = false;
    onOver();
  }

  return {
    beganAt,
    lookMs: () => (isBrief ? briefLookMs : usualLookMs),
    marksOf: (target) =>
      marksFrom(isStarting ? absence : null, target, beganAt, Math.min(ends.get(target) ?? clock.now(), clock.now())),
    ended: (target, until) => void ends.set(target, until),
    holds: (rounds) => includes(current, rounds) || includes(next, rounds),
    heard(rounds, dueAt, isReopened) {
      if (isReopened) begin('unreachable', [rounds]);
      const gathering = includes(current, rounds) ? current : next;
      if (gathering !== null && dueAt <= gathering.until) gathering.heardAt = clock.elapsed();
    },
    begin,
    late: (round) => unjudged.late(round),
    reset: (now) => endBy([current, next], now),
    look(targets) {
      ends.clear();
      if (current === null || current.isJudging) return unjudged.look();
      // Rounds have as long as usual.
      if (isBrief) return isBriefOver(current) ? end() : undefined;
      const ready = readinessOf(current, absence, clock.elapsed());
      if (ready === null) return;
      current.isJudging = true;
      const members = targets().filter((rounds) => includes(current, rounds));
      judge(current, members, ready)
        .catch((error: unknown) => log.error({ err: error }, 'cannot judge what nodes observed during an absence'))
        .finally(end);
    },
  };
}
