import type { Clock } from '#kernel/clock.ts';
import { listOf } from '#kernel/lists.ts';
import type { ResultBatch } from './ports.ts';
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
  /** The next round of the target that came after it. */
  next: WaitingActions | null;
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
  // The first round of each target: a name for each result would be written and hashed ten thousand times a second.
  const waiting = new Map<string, WaitingActions>();
  let lookedAt = clock.elapsed();
  // Nodes of this process wait for nothing.
  let isUsed = false;

  function find({ target, dueAt }: RoundKey): WaitingActions | null {
    let place = waiting.get(target) ?? null;
    while (place !== null && place.dueAt !== dueAt) place = place.next;
    return place;
  }

  function placeOf(round: RoundKey, expected = 0): WaitingActions {
    const { target, dueAt } = round;
    const known = find(round);
    if (known !== null) return known;
    const actions = listOf(expected, null);
    const place = { dueAt, since: clock.elapsed(), actions, count: 0, judged: -1, later: null, next: null };
    let last = waiting.get(target);
    while (last !== undefined && last.next !== null) last = last.next;
    if (last === undefined) waiting.set(target, place);
    else last.next = place;
    return place;
  }

  function beginWith(target: string, first: WaitingActions | null): void {
    if (first === null) waiting.delete(target);
    else waiting.set(target, first);
  }

  function remove(target: string, place: WaitingActions): void {
    let before = waiting.get(target);
    if (before === place) return beginWith(target, place.next);
    while (before !== undefined && before.next !== null && before.next !== place) before = before.next;
    if (before !== undefined) before.next = place.next;
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
      const place = round === null ? null : find(round);
      if (round === null || place === null || place.judged === -1) return;
      const { actions, count, judged, later } = place;
      const done = actions.slice(0, judged);
      if (judged === count) remove(round.target, place);
      else {
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
      for (const [target, first] of waiting) {
        let left: WaitingActions | null = first;
        while (left !== null && left.since <= before) left = left.next;
        if (left !== first) beginWith(target, left);
      }
    },
  };
}
