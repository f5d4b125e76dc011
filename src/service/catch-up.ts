import type { Clock } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import { formatRunName, type RoundKey } from '#protocol/run-name.ts';
import type { Lateness, TargetRounds } from './rounds.ts';

/** What this process did not see, for it was away, and nodes may have. */
export interface Absence {
  /** When the last round of a target was due that is stored; null where there is none. */
  lastRound(target: string): number | null;
  /** Whether all that nodes have kept is here, as far as can be told. */
  isOver(): boolean;
}

/** What was seen during an absence and stored as history, but not judged. Times are those when the first and the last of it was due. */
export interface Unjudged {
  readonly from: number;
  readonly until: number;
  /** Of how many targets. */
  readonly targets: number;
}

/** Gathers what nodes saw before this process began, and has it judged in order before anything else. */
export interface CatchUp {
  /** When this process began. */
  readonly beganAt: number;
  /** Up to when every round of this target is over. */
  overUntil(target: string): number;
  /** Whether rounds are gathered still: nothing is to be judged. */
  readonly isOpen: boolean;
  /** To be called every now and then: ends it once everything is here, or after a minute. */
  look(targets: () => readonly TargetRounds[]): void;
  /** A vote came when its round was over. */
  late(round: RoundKey): void;
}

export interface CatchUpOptions {
  readonly absence: Absence | null;
  readonly clock: Clock;
  readonly log: Log;
  /** Called once it is over. */
  readonly onOver: () => void;
  /** Called once where there was more than could be judged, when all of it is here or after some minutes. */
  readonly onUnjudged: (unjudged: Unjudged) => void;
}

// Live news never waits longer for what is over; where nodes have not sent everything by then, what is here is judged.
const longestMs = 60_000;
const longestGatheringMs = 40_000;
// Time to catch up with the end of what began, so that both are one message.
const tellAfterMs = 10_000;
const atOnce = 100;
const tellUnjudgedAfterMs = 600_000;
// What is shorter is in the log only, as every start may leave a round or two.
const worthTellingMs = 60_000;

export function createCatchUp({ absence, clock, log, onOver, onUnjudged }: CatchUpOptions): CatchUp {
  const beganAt = clock.now();
  const began = clock.elapsed();
  let state: 'gathering' | 'judging' | 'over' = absence === null ? 'over' : 'gathering';
  const judged = new Set<string>();
  // Of days without a hub millions of votes may come: none is remembered by itself.
  const targetsUnjudged = new Set<string>();
  let from = Number.POSITIVE_INFINITY;
  let until = Number.NEGATIVE_INFINITY;
  let isTold = false;

  async function judge(targets: readonly TargetRounds[]): Promise<void> {
    const late: Lateness = { why: 'the monitor was away when it happened', tellFrom: clock.now() + tellAfterMs };
    const rounds = targets
      .flatMap((rounds) => rounds.openUntil(beganAt).map((dueAt) => ({ rounds, target: rounds.name, dueAt })))
      .toSorted((a, b) => a.dueAt - b.dueAt);
    for (const [index, { rounds: own, ...round }] of rounds.entries()) {
      if (index % atOnce === atOnce - 1) await new Promise<void>((resolve) => clock.after(0, resolve));
      if (clock.elapsed() - began > longestMs) {
        for (const { target, dueAt } of rounds.slice(index)) note({ target, dueAt });
        break;
      }
      judged.add(formatRunName(round));
      await own.endLate(round.dueAt, late);
    }
    for (const target of targets) target.letGo(beganAt);
    if (rounds.length > 0) log.info({ rounds: rounds.length }, 'what nodes saw while the monitor was away was judged');
    state = 'over';
    onOver();
  }

  function note(round: RoundKey): void {
    if (isTold || judged.has(formatRunName(round))) return;
    targetsUnjudged.add(round.target);
    from = Math.min(from, round.dueAt);
    until = Math.max(until, round.dueAt);
  }

  function tell(): void {
    isTold = true;
    judged.clear();
    const targets = targetsUnjudged.size;
    targetsUnjudged.clear();
    if (targets === 0) return;
    const [at, to] = [from, until].map((moment) => new Date(moment).toISOString());
    log.warn({ targets, from: at, until: to }, 'what nodes saw is stored unjudged');
    if (until - from >= worthTellingMs) onUnjudged({ from, until, targets });
  }

  return {
    beganAt,
    overUntil: (target) => Math.min(beganAt, (state === 'over' ? null : absence?.lastRound(target)) ?? clock.now()),
    get isOpen() {
      return state !== 'over';
    },
    late(round) {
      const last = absence?.lastRound(round.target) ?? Number.POSITIVE_INFINITY;
      if (round.dueAt > last && round.dueAt <= beganAt) note(round);
    },
    look(targets) {
      const isWaiting = absence?.isOver() === false && clock.elapsed() - began < tellUnjudgedAfterMs;
      if (state === 'over' && !isTold && !isWaiting) tell();
      if (state !== 'gathering' || (absence?.isOver() === false && clock.elapsed() - began < longestGatheringMs))
        return;
      state = 'judging';
      judge(targets()).catch((error: unknown) => {
        log.error({ err: error }, 'what nodes saw while the monitor was away could not be judged');
        state = 'over';
        onOver();
      });
    },
  };
}
