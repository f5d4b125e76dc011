import type { Clock } from '#kernel/clock.ts';
import { stableFraction } from '#kernel/hash.ts';
import { createExtraPace } from './extra-pace.ts';
import type { Runner } from './runner.ts';

/** Has targets checked besides their schedules, if that yields what a decision waits for. */
export interface ExtraRounds extends Disposable {
  /** These at once, spread over some seconds if they are many. */
  ask(targets: readonly string[]): void;
  /** After a round of a target: targets that show whether connectivity is lost, and the target itself when what holds it back ends. */
  askAgain(target: string): void;
  /** Whether there is room for one now; to be asked before each. */
  mayBegin(): boolean;
}

export interface ExtraRoundsOptions {
  readonly clock: Clock;
  readonly runner: Pick<Runner, 'waitedMs'>;
  readonly doubt: {
    /** The next targets to check while connectivity is in doubt: each call gives others, and more of them. */
    witnesses(): readonly string[];
    /** Whether such checks would tell more, which is asked in every round. */
    wantsWitnesses(): boolean;
  };
  /** When the suppression of a target ends by itself, in milliseconds since the epoch, or null. */
  readonly heldUntil: (target: string, now: number) => number | null;
  /** Has a target checked soon. `isNeeded`: a check that runs began too early to tell, and another one follows it. */
  readonly request: (target: string, isNeeded: boolean) => void;
}

// Between two batches of witnesses: most checks of healthy targets are over by then.
const witnessGapMs = 2_000;
const secondGapMs = 5_000;
const firstBatches = 5;
const mostBatches = 12;
// Between two of many witnesses.
const witnessMs = 10;
const many = 20;
const spreadMs = 10_000;

export function createExtraRounds({ clock, runner, doubt, heldUntil, request }: ExtraRoundsOptions): ExtraRounds {
  const pace = createExtraPace(clock, () => runner.waitedMs());
  const timers = new Set<Disposable>();
  const ends = new Map<string, Disposable>();
  let batches = 0;
  let isDoubting = false;
  let isOver = false;

  function later(ms: number, action: () => void): Disposable {
    const timer = clock.after(ms, () => {
      timers.delete(timer);
      action();
    });
    timers.add(timer);
    return timer;
  }

  function ask(targets: readonly string[]): void {
    if (isOver) return;
    for (const target of targets) {
      if (targets.length < many) request(target, true);
      else later(stableFraction(target) * spreadMs, () => request(target, true));
    }
  }

  // The first round that fails everywhere has others looked at, more and more of them until one tells something.
  function checkWitnesses(): void {
    const isWanted = doubt.wantsWitnesses();
    if (!isWanted) batches = 0;
    if (!isWanted || isDoubting || batches >= mostBatches) return;
    batches += 1;
    isDoubting = true;
    const witnesses = doubt.witnesses();
    for (const [index, target] of witnesses.entries()) {
      if (index < many) request(target, false);
      else later((index - many) * witnessMs, () => doubt.wantsWitnesses() && request(target, false));
    }
    const gapMs = batches < firstBatches ? witnessGapMs : secondGapMs;
    later(Math.max(gapMs, witnesses.length * witnessMs), () => {
      isDoubting = false;
      checkWitnesses();
    });
  }

  function awaitEnd(target: string): void {
    const known = ends.get(target);
    if (known !== undefined) {
      known[Symbol.dispose]();
      timers.delete(known);
      ends.delete(target);
    }
    const until = heldUntil(target, clock.now());
    if (until === null || until === Number.POSITIVE_INFINITY) return;
    // Timers come up to a millisecond early, and what is seen before the end says nothing.
    const onEnd = () => {
      ends.delete(target);
      if (clock.now() < until) awaitEnd(target);
      else request(target, true);
    };
    ends.set(target, later(Math.ceil(until - clock.now()), onEnd));
  }

  return {
    ask,
    askAgain(target) {
      if (isOver) return;
      checkWitnesses();
      awaitEnd(target);
    },
    mayBegin: () => pace.mayBegin(),
    [Symbol.dispose]() {
      isOver = true;
      for (const timer of timers) timer[Symbol.dispose]();
      timers.clear();
    },
  };
}
