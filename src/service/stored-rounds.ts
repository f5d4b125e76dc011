import type { Clock } from '#kernel/clock.ts';
import { listOf } from '#kernel/lists.ts';
import type { ResultBatch } from './ports.ts';
import { RoundsByDue } from './rounds-by-due.ts';
import { parseRunName, type RoundKey } from '#protocol/run-name.ts';

/** What is to be done once rounds are stored. */
export interface StoredRounds {
  /** Once what is judged of this round from now on is stored. `expected` is for how many votes of it this may be called. */
  after(round: RoundKey, action: () => void, expected?: number): void;
  /** To be called with each round that is handed on to be stored: what comes after this moment is not part of it. */
  judged(round: RoundKey): void;
  /** To be called when a round is stored, by its name: of one that was judged twice, the earlier one is stored first. */
  stored(round: string): void;
  /** Nothing is done for rounds that were not stored for minutes: the node sends its results again. */
  forget(): void;
}

const keptMs = 300_000;
const lookEveryMs = 30_000;

interface WaitingActions {
  readonly dueAt: number;
  readonly since: number;
  /** In the order in which they came, with room for those that are expected: a list that grows takes room for sixteen more. */
  actions: ((() => void) | null)[];
  count: number;
  /** How many of them belong to the record that is being stored; -1 if none is. */
  judged: number;
  /** The same of the records that follow it; null if none does, as nearly always. */
  later: readonly number[] | null;
}

/** What is to be called so many times before `action` is done; null if there is nothing to do. */
function countDown(count: number, action: (() => void) | null): (() => void) | null {
  let left = count;
  return action === null
    ? null
    : () => {
        left -= 1;
        if (left === 0) action();
      };
}

/** A batch whose `confirm` is to be called for each of its results. */
export function countEach<Batch extends ResultBatch | null>(batch: Batch): Batch {
  return batch && { ...batch, confirm: countDown(batch.observations.length, batch.confirm) };
}

export function createStoredRounds(clock: Clock): StoredRounds {
  // By target: a name for each result would be written and hashed ten thousand times a second.
  const waiting = new Map<string, RoundsByDue<WaitingActions>>();
  let lookedAt = clock.elapsed();
  // Nodes of this process wait for nothing.
  let isUsed = false;

  function placeOf({ target, dueAt }: RoundKey, expected = 0): WaitingActions {
    let rounds = waiting.get(target);
    if (rounds === undefined) waiting.set(target, (rounds = new RoundsByDue()));
    const known = rounds.find(dueAt);
    if (known !== undefined) return known;
    const actions = listOf(expected, null);
    const place = { dueAt, since: clock.elapsed(), actions, count: 0, judged: -1, later: null };
    rounds.add(place);
    return place;
  }

  return {
    after(round, action, expected) {
      isUsed = true;
      const place = placeOf(round, expected);
      place.actions[place.count] = action;
      place.count += 1;
    },
    judged(round) {
      if (!isUsed) return;
      const place = placeOf(round);
      if (place.judged === -1) place.judged = place.count;
      else place.later = [...(place.later ?? []), place.count];
    },
    stored(name) {
      const round = parseRunName(name);
      const rounds = round === null ? undefined : waiting.get(round.target);
      const place = round === null ? undefined : rounds?.find(round.dueAt);
      if (round === null || rounds === undefined || place === undefined || place.judged === -1) return;
      const { actions, count, judged, later } = place;
      const done = actions.slice(0, judged);
      if (judged === count) {
        rounds.delete(round.dueAt);
        if (rounds.isEmpty) waiting.delete(round.target);
      } else {
        const [next = -1, ...rest] = (later ?? []).map((upTo) => upTo - judged);
        place.actions = actions.slice(judged, count);
        place.count = count - judged;
        place.judged = next;
        place.later = rest.length > 0 ? rest : null;
      }
      for (const action of done) action?.();
    },
    forget() {
      const now = clock.elapsed();
      if (now - lookedAt < lookEveryMs) return;
      lookedAt = now;
      const before = now - keptMs;
      for (const [target, rounds] of waiting) {
        for (const { dueAt, since } of rounds.all()) if (since <= before) rounds.delete(dueAt);
        if (rounds.isEmpty) waiting.delete(target);
      }
    },
  };
}
