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

// Live rounds never wait longer for what is over.
const longestMs = 60_000;
const longestGatheringMs = 40_000;
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

  // What was sent may wait here to be read.
  function isReady({ cause, began, heardAt }: AbsenceGathering): 'complete' | 'cut off' | null {
    const waited = clock.elapsed() - began;
    if (isBrief) return absence?.isOver() !== false || waited >= shortestGatheringMs ? 'complete' : null;
    const isQuiet = clock.elapsed() - heardAt >= quietMs;
    const hadTime = cause === 'stopped' || waited >= shortestGatheringMs;
    if (absence?.isOver() !== false && isQuiet && hadTime) return 'complete';
    return waited >= longestGatheringMs ? 'cut off' : null;
  }

  async function judge(
    gathering: AbsenceGathering,
    targets: readonly TargetRounds[],
    isCutOff: boolean,
  ): Promise<void> {
    const late: LateRounds = { why: reasons[gathering.cause], notifyFrom: clock.now() + notifyAfterMs };
    const rounds = targets
      .flatMap((rounds) => rounds.openUntil(gathering.until).map((dueAt) => ({ rounds, target: rounds.name, dueAt })))
      .toSorted((a, b) => a.dueAt - b.dueAt);
    const before = targets.map(({ name, decided }) => ({ name, decided }));
    let left = rounds.length;
    for (const [index, { rounds: own, ...round }] of rounds.entries()) {
      if (index % atOnce === atOnce - 1) await new Promise<void>((resolve) => clock.after(0, resolve));
      if (clock.elapsed() - gathering.began > longestMs) break;
      unjudged.judged(round);
      await own.endLate(round.dueAt, late);
      left -= 1;
    }
    const hasLost = unjudged.hasLost(Math.min(...before.map(({ decided }) => decided)));
    if (isCutOff || left > 0 || hasLost) unjudged.open(before, gathering.until);
    for (const round of rounds.slice(rounds.length - left)) unjudged.note(round);
    for (const target of targets) {
      if (gathering.cause === 'stopped') target.letGo(gathering.until);
      if (gathering.cause === 'frozen') target.extendDeadline(gathering.until, false);
      if (isCutOff || left > 0) target.abandon(gathering.until);
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
      const ready = isReady(current);
      if (ready === null) return;
      // Rounds have as long as usual.
      if (isBrief) return end();
      current.isJudging = true;
      const members = targets().filter((rounds) => includes(current, rounds));
      judge(current, members, ready === 'cut off')
        .catch((error: unknown) => log.error({ err: error }, 'cannot judge what nodes observed during an absence'))
        .finally(end);
    },
  };
}
