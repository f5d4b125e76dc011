import { type ElapsedBetween, plainlyBetween } from '#kernel/clock-steps.ts';
import type { Vote } from '../judge/vote.ts';
import type { ObservedRound } from './quarantine.ts';
import { createReturnPeriod } from './return-period.ts';
import { createWitnesses, type Witnesses } from './witnesses.ts';

export type ConnectivityChange =
  | { readonly kind: 'lost'; readonly since: number; readonly targets: readonly string[]; readonly sawDown: boolean }
  | { readonly kind: 'back'; readonly at: number };

/** Whether what is seen down may be our own doing. */
export type Doubt = 'none' | 'unsure' | 'lost' | 'returning';

/**
 * Whether anything can be reached at all. A round with an up vote, of any node on any target, is a good result. Targets that may
 * fail together for a reason of their own, one machine or one router before them, are one witness. Our own connectivity is lost
 * when, since the last good result, every target that was up before failed on all its nodes, two witnesses at least, one target
 * twice; or when ten witnesses failed and no target was seen up for a minute. If the nodes can say nothing at all for three
 * minutes, one witness is enough. Two good results end it, of two targets or twice of the same one. A link, a route or a gateway of
 * all nodes of a target that went away, and came back without that, is followed by the same time of return. It lasts for 15 s after
 * the last target that came back, and a minute at the most.
 */
export interface Connectivity {
  readonly isLost: boolean;
  /** True from the first round without an up vote until the next good result, and while it is lost. */
  readonly isUncertain: boolean;
  observe(round: ObservedRound, now: number): ConnectivityChange | null;
  /** What to think of a target that fails everywhere at `now`. It is `returning` for a while after it is back: routes come in steps. */
  doubtAbout(target: string, now: number): Doubt;
  /** Until when it is returning, in milliseconds since the epoch; what was seen before then was seen in doubt. 0 if it was never lost. */
  readonly returnedAt: number;
  /** When any target was seen up last, in milliseconds since the epoch; 0 if that is not known. */
  readonly lastUpAt: number;
  /** Whether checks of other targets would tell more. */
  readonly wantsWitnesses: boolean;
  /** The next targets to check for that, those that were up last at the beginning. Each call gives others, and more of them. */
  witnesses(): readonly string[];
  /** Takes connectivity for lost since then, before the program was started. */
  restore(since: number): void;
  /** All targets there are from now on, with the witness that each belongs to; those in `failing` are known to fail. */
  targetsChanged(targets: ReadonlyMap<string, string>, failing: ReadonlySet<string>): void;
  /** The clock was set back to `now`: nothing was seen or came back after that. */
  setBack(now: number): void;
}

const enoughWitnesses = 10;
const secondLookMs = 3_000;
const blindMs = 180_000;
// With thousands of targets the last ones are not waited for.
const longestSearchMs = 60_000;
// No notification waits longer than this for checks of other targets.
const longestDoubtMs = 120_000;
// Good results further apart belong to different times.
const togetherMs = 120_000;
const firstBatch = 15;
const batchGrowth = 4;

interface Streak {
  readonly firstAt: number;
  readonly startedAt: number;
  readonly rounds: Map<string, number>;
  /** Those that the targets belong to. */
  readonly witnesses: Set<string>;
  /** The targets that were given as witnesses. */
  readonly asked: Set<string>;
  batch: number;
  /** How many rounds these are together. */
  looks: number;
  sawDown: boolean;
}

function newStreak(firstAt: number, startedAt: number): Streak {
  return {
    firstAt,
    startedAt,
    rounds: new Map(),
    witnesses: new Set(),
    asked: new Set(),
    batch: firstBatch,
    looks: 0,
    sawDown: false,
  };
}

// A node that was held up lost nothing: it is busy. How late it was besides says nothing about its path.
function isOwnFault({ outcome }: Vote): boolean {
  return outcome.status === 'unknown' && outcome.failure.code === 'local';
}

function isConvincing({ rounds, witnesses, looks, sawDown }: Streak, known: Witnesses, lastedMs: number) {
  const failing = witnesses.size;
  const isAll = known.living === 0;
  if (!isAll && (failing < enoughWitnesses || lastedMs < longestSearchMs)) return false;
  if (!sawDown) return lastedMs >= blindMs;
  return failing >= 2 && looks > rounds.size && lastedMs >= secondLookMs;
}

function leaveOut(gone: readonly string[], current: Streak, known: Witnesses): void {
  for (const name of gone) {
    current.looks -= current.rounds.get(name) ?? 0;
    current.rounds.delete(name);
  }
  // The host of a target may have changed, too.
  current.witnesses.clear();
  for (const name of current.rounds.keys()) current.witnesses.add(known.witnessOf(name));
}

function nextBatch(current: Streak, known: Witnesses): readonly string[] {
  const batch = known.lastUp(current.batch, (name) => !current.rounds.has(name) && !current.asked.has(name));
  for (const name of batch) current.asked.add(name);
  current.batch *= batchGrowth;
  if (batch.length >= firstBatch) return batch;
  // Those that fail are checked a second time.
  return [...batch, ...current.rounds.keys()].slice(0, firstBatch);
}

function begunBy(streak: Streak, now: number): Streak {
  return { ...streak, firstAt: Math.min(streak.firstAt, now), startedAt: Math.min(streak.startedAt, now) };
}

// Nodes send failures at once, and good results a moment later: what was seen before the first failure says nothing of it. Results
// from long before come after the clock was set back.
function isFromBefore(at: number, since: number): boolean {
  return at < since && since - at <= togetherMs;
}

export function createConnectivity(elapsedBetween: ElapsedBetween = plainlyBetween): Connectivity {
  const known = createWitnesses();
  let streak: Streak | null = null;
  /** When the first round was due that connectivity was lost by; null if it is not lost. */
  let lostSince: number | null = null;
  const returning = createReturnPeriod(elapsedBetween);
  let lastUpAt = 0;
  /** Whether a target that was up could not be reached last for a fault of the nodes' own links, routes or gateways. */
  let isPathLost = false;
  /** The first good result since connectivity was lost. */
  let firstGood: { readonly target: string; readonly at: number } | null = null;

  const isCompared = () => known.countWithLiving(2, streak?.witnesses ?? []) >= 2;

  function recordUp(target: string, at: number, now: number): ConnectivityChange | null {
    const isBack = known.has(target) && !known.isLiving(target);
    known.seenUp(target, at);
    lastUpAt = Math.max(lastUpAt, at);
    if (isBack) returning.goOn(now);
    if (isFromBefore(at, lostSince ?? streak?.firstAt ?? 0)) return null;
    if (lostSince === null) return (streak = null);
    const first = firstGood !== null && at - firstGood.at <= togetherMs ? firstGood : null;
    firstGood = first ?? { target, at };
    if (first === null) return null;
    lostSince = null;
    returning.begin(now);
    streak = null;
    firstGood = null;
    return { kind: 'back', at: first.at };
  }

  function takeSilence({ target, dueAt, votes }: ObservedRound, now: number): ConnectivityChange | null {
    if (!known.has(target)) return null;
    const seesDown = votes.some(({ outcome }) => outcome.status === 'down');
    // Rounds in which no node saw anything are no evidence beside those in which nodes see again.
    if (seesDown && streak?.sawDown === false) {
      known.takeForUp(streak.rounds.keys());
      streak = null;
    }
    const isNews = known.isLiving(target) || streak?.rounds.has(target) === true;
    known.seenSilent(target);
    if (lostSince !== null || !isNews) return null;
    streak ??= newStreak(dueAt, now);
    streak.looks += 1;
    streak.rounds.set(target, (streak.rounds.get(target) ?? 0) + 1);
    streak.witnesses.add(known.witnessOf(target));
    streak.sawDown ||= seesDown;
    return isConvincing(streak, known, elapsedBetween(streak.startedAt, now)) ? declareLost(streak) : null;
  }

  function declareLost({ firstAt, rounds, sawDown }: Streak): ConnectivityChange {
    lostSince = firstAt;
    firstGood = null;
    return { kind: 'lost', since: firstAt, targets: [...rounds.keys()], sawDown };
  }

  return {
    get isLost() {
      return lostSince !== null;
    },
    get returnedAt() {
      return returning.endsAt;
    },
    get lastUpAt() {
      return lastUpAt;
    },
    get isUncertain() {
      return lostSince !== null || streak !== null;
    },
    observe(round, now) {
      if (round.votes.length > 0 && round.votes.every(isOwnFault) && known.wasSeenUp(round.target)) isPathLost = true;
      else if (isPathLost && !round.votes.every(({ outcome }) => outcome.status === 'unknown')) {
        isPathLost = false;
        returning.begin(now);
      }
      if (round.votes.some(({ outcome }) => outcome.status === 'up')) return recordUp(round.target, round.dueAt, now);
      return takeSilence(round, now);
    },
    doubtAbout(target, now) {
      if (lostSince !== null) return 'lost';
      if (returning.isOn(now)) return 'returning';
      if (streak?.rounds.has(target) !== true) return 'none';
      if (elapsedBetween(streak.startedAt, now) >= longestDoubtMs) return 'none';
      return isCompared() ? 'unsure' : 'none';
    },
    get wantsWitnesses() {
      return lostSince !== null ? firstGood !== null : streak !== null && isCompared();
    },
    witnesses() {
      if (lostSince !== null) return firstGood === null ? [] : [firstGood.target];
      return streak === null || !isCompared() ? [] : nextBatch(streak, known);
    },
    restore(since) {
      lostSince = since;
      lastUpAt = Math.max(lastUpAt, since);
    },
    targetsChanged(targets, failing) {
      const gone = known.change(targets, failing);
      if (streak !== null) leaveOut(gone, streak, known);
      if (streak?.rounds.size === 0) streak = null;
    },
    setBack(now) {
      returning.setBack(now);
      streak &&= begunBy(streak, now);
    },
  };
}
