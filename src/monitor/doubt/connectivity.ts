import type { ObservedRound } from './quarantine.ts';

export type ConnectivityChange =
  | { readonly kind: 'lost'; readonly since: number; readonly targets: readonly string[]; readonly sawDown: boolean }
  | { readonly kind: 'back'; readonly at: number };

/** Whether what is seen down may be our own doing. */
export type Doubt = 'none' | 'unsure' | 'lost' | 'returning';

/**
 * Whether anything can be reached at all. One up vote, of any node on any target, is a sign of life. Targets that may fail
 * together for a reason of their own, one machine or one router before them, are one witness. Our own connectivity is
 * suspected when, since the last sign of life, all witnesses that were up before (ten are enough, two the least) failed on all
 * their nodes, one of them twice. Where all nodes have nothing to say for three minutes, one witness is enough. It is back
 * with up votes on two targets.
 */
export interface Connectivity {
  readonly isLost: boolean;
  /** True from the first round without an up vote until the next sign of life, and while it is lost. */
  readonly isUncertain: boolean;
  observe(round: ObservedRound, now: number): ConnectivityChange | null;
  /** What to think of a target that fails everywhere at `now`. It is `returning` for a while after it is back: routes come in steps. */
  doubtAbout(target: string, now: number): Doubt;
  /** Until when it is returning, in milliseconds since the epoch; what was seen before then was seen in doubt. 0 where it was never lost. */
  readonly returnedAt: number;
  /** Whether a look of others at the world would tell more. */
  readonly wantsWitnesses: boolean;
  /** Targets whose look at the world would help then, those to ask first at the beginning. */
  witnesses(): readonly string[];
  /** Takes connectivity for lost that was so before the program was started. */
  restore(): void;
  /** All targets there are from now on, with the witness that each belongs to; those in `failing` are known to fail. */
  targetsChanged(targets: ReadonlyMap<string, string>, failing: ReadonlySet<string>): void;
}

const enoughWitnesses = 10;
const secondLookMs = 3_000;
const blindMs = 180_000;
// Nobody's mail waits longer than this for other targets to be looked at.
const longestDoubtMs = 120_000;
// Routes come back one after the other.
const returnMs = 15_000;

interface Standing {
  readonly witness: string;
  /** Whether its last round had an up vote; taken for granted where there was none. */
  hadUp: boolean;
}

interface Streak {
  readonly firstAt: number;
  readonly startedAt: number;
  readonly rounds: Map<string, number>;
  /** How many rounds these are together. */
  looks: number;
  sawDown: boolean;
}

// How many witnesses these are, up to a number: with ten thousand targets nobody can count them all in every round.
function countUpTo(
  most: number,
  standings: ReadonlyMap<string, Standing>,
  names: Iterable<string>,
  counts: (name: string) => boolean = () => true,
): number {
  const found = new Set<string>();
  for (const name of names) {
    if (!counts(name)) continue;
    found.add(standings.get(name)?.witness ?? '');
    if (found.size >= most) break;
  }
  return found.size;
}

// Rounds in which no node saw anything are no evidence against those in which nodes see again.
function forgetBlindness(standings: ReadonlyMap<string, Standing>, { rounds }: Streak): void {
  for (const name of rounds.keys()) {
    const known = standings.get(name);
    if (known !== undefined) known.hadUp = true;
  }
}

export function createConnectivity(): Connectivity {
  const standings = new Map<string, Standing>();
  let streak: Streak | null = null;
  let isLost = false;
  let returnedAt = 0;
  const backSince = new Set<string>();

  const isLiving = (name: string) => standings.get(name)?.hadUp === true;
  const isCounted = (name: string) => isLiving(name) || streak?.rounds.has(name) === true;
  const livingUpTo = (most: number) => countUpTo(most, standings, standings.keys(), isCounted);

  function takeSign(target: string, at: number, now: number): ConnectivityChange | null {
    const known = standings.get(target);
    if (known !== undefined) known.hadUp = true;
    if (!isLost) {
      streak = null;
      return null;
    }
    backSince.add(target);
    if (backSince.size < Math.min(2, standings.size)) return null;
    isLost = false;
    returnedAt = now + returnMs;
    streak = null;
    backSince.clear();
    return { kind: 'back', at };
  }

  function takeSilence({ target, dueAt, votes }: ObservedRound, now: number): ConnectivityChange | null {
    const known = standings.get(target);
    if (known === undefined) return null;
    const seesDown = votes.some(({ outcome }) => outcome.status === 'down');
    if (seesDown && streak?.sawDown === false) {
      forgetBlindness(standings, streak);
      streak = null;
    }
    const isNews = known.hadUp || streak?.rounds.has(target) === true;
    known.hadUp = false;
    if (isLost || !isNews) return null;
    streak ??= { firstAt: dueAt, startedAt: now, rounds: new Map(), looks: 0, sawDown: false };
    streak.looks += 1;
    streak.rounds.set(target, (streak.rounds.get(target) ?? 0) + 1);
    streak.sawDown ||= seesDown;
    return isConvincing(streak, now) ? lose(streak) : null;
  }

  function isConvincing({ rounds, looks, startedAt, sawDown }: Streak, now: number): boolean {
    const failing = countUpTo(enoughWitnesses, standings, rounds.keys());
    if (failing < enoughWitnesses && failing < livingUpTo(failing + 1)) return false;
    if (!sawDown) return now - startedAt >= blindMs;
    return failing >= 2 && looks > rounds.size && now - startedAt >= secondLookMs;
  }

  function lose({ firstAt, rounds, sawDown }: Streak): ConnectivityChange {
    isLost = true;
    backSince.clear();
    return { kind: 'lost', since: firstAt, targets: [...rounds.keys()], sawDown };
  }

  return {
    get isLost() {
      return isLost;
    },
    get returnedAt() {
      return returnedAt;
    },
    get isUncertain() {
      return isLost || streak !== null;
    },
    observe(round, now) {
      if (round.votes.some(({ outcome }) => outcome.status === 'up')) return takeSign(round.target, round.dueAt, now);
      return takeSilence(round, now);
    },
    doubtAbout(target, now) {
      if (isLost) return 'lost';
      if (now < returnedAt) return 'returning';
      if (streak?.rounds.has(target) !== true || now - streak.startedAt >= longestDoubtMs) return 'none';
      return livingUpTo(2) < 2 ? 'none' : 'unsure';
    },
    get wantsWitnesses() {
      return streak !== null && !isLost && livingUpTo(2) >= 2;
    },
    witnesses() {
      const seen = streak?.rounds;
      if (seen === undefined || isLost || livingUpTo(2) < 2) return [];
      const one = new Map<string, string>();
      const add = (name: string) => {
        const { witness = '' } = standings.get(name) ?? {};
        if (!one.has(witness) && one.size < enoughWitnesses) one.set(witness, name);
      };
      for (const name of standings.keys()) if (isLiving(name) && !seen.has(name)) add(name);
      seen.forEach((_, name) => add(name));
      return [...one.values()];
    },
    restore() {
      isLost = true;
    },
    targetsChanged(targets, failing) {
      for (const name of standings.keys()) {
        if (targets.has(name)) continue;
        standings.delete(name);
        if (streak !== null) streak.looks -= streak.rounds.get(name) ?? 0;
        streak?.rounds.delete(name);
      }
      for (const [name, witness] of targets) {
        const known = standings.get(name);
        if (known?.witness !== witness) standings.set(name, { witness, hadUp: known?.hadUp ?? !failing.has(name) });
      }
      if (streak?.rounds.size === 0) streak = null;
    },
  };
}
