import type { Clock } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import type { Lateness, TargetRounds } from './rounds.ts';

/** What this process did not see, for it was away, and nodes may have. */
export interface Absence {
  /** When the last round of a target was due that is stored; null where there is none. */
  lastRound(target: string): number | null;
  /** Whether all that nodes have kept is here, as far as can be told. */
  isOver(): boolean;
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
}

export interface CatchUpOptions {
  readonly absence: Absence | null;
  readonly clock: Clock;
  readonly log: Log;
  /** Called once it is over. */
  readonly onOver: () => void;
}

// Live news never waits longer for what is over; where nodes have not sent everything by then, what is here is judged.
const longestMs = 60_000;
const longestGatheringMs = 40_000;
// Time to catch up with the end of what began, so that both are one message.
const tellAfterMs = 10_000;
const atOnce = 100;

export function createCatchUp({ absence, clock, log, onOver }: CatchUpOptions): CatchUp {
  const beganAt = clock.now();
  const began = clock.elapsed();
  let state: 'gathering' | 'judging' | 'over' = absence === null ? 'over' : 'gathering';

  async function judge(targets: readonly TargetRounds[]): Promise<void> {
    const late: Lateness = { why: 'the monitor was away when it happened', tellFrom: clock.now() + tellAfterMs };
    const rounds = targets
      .flatMap((target) => target.openUntil(beganAt).map((dueAt) => ({ target, dueAt })))
      .toSorted((a, b) => a.dueAt - b.dueAt);
    for (const [index, { target, dueAt }] of rounds.entries()) {
      if (index % atOnce === atOnce - 1) await new Promise<void>((resolve) => clock.after(0, resolve));
      if (clock.elapsed() - began > longestMs) {
        log.warn({ rounds: rounds.length - index, from: new Date(dueAt).toISOString() }, 'rounds are stored unjudged');
        break;
      }
      await target.endLate(dueAt, late);
    }
    for (const target of targets) target.letGo(beganAt);
    if (rounds.length > 0) log.info({ rounds: rounds.length }, 'what nodes saw while the monitor was away was judged');
    state = 'over';
    onOver();
  }

  return {
    beganAt,
    overUntil: (target) => Math.min(beganAt, (state === 'over' ? null : absence?.lastRound(target)) ?? clock.now()),
    get isOpen() {
      return state !== 'over';
    },
    look(targets) {
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
