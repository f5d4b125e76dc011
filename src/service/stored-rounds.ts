import type { Clock } from '#kernel/clock.ts';
import type { ResultBatch } from './ports.ts';
import { parseRunName, type RoundKey } from '#protocol/run-name.ts';

/** What is to be done once rounds are stored. */
export interface StoredRounds {
  after(round: RoundKey, action: () => void): void;
  /** To be called when a round is stored, by its name. */
  stored(round: string): void;
  /** Nothing is done for rounds that were not stored for minutes: the node sends its results again. */
  forget(): void;
}

const keptMs = 300_000;
const lookEveryMs = 30_000;

interface WaitingActions {
  readonly since: number;
  readonly actions: (() => void)[];
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
  // By target and due time: a name for each result would be written and hashed ten thousand times a second.
  const waiting = new Map<string, Map<number, WaitingActions>>();
  let lookedAt = clock.elapsed();
  return {
    after({ target, dueAt }, action) {
      let rounds = waiting.get(target);
      if (rounds === undefined) waiting.set(target, (rounds = new Map()));
      const known = rounds.get(dueAt);
      if (known === undefined) rounds.set(dueAt, { since: clock.elapsed(), actions: [action] });
      else known.actions.push(action);
    },
    stored(name) {
      const round = parseRunName(name);
      const rounds = round === null ? undefined : waiting.get(round.target);
      if (round === null || rounds === undefined) return;
      const actions = rounds.get(round.dueAt)?.actions ?? [];
      rounds.delete(round.dueAt);
      if (rounds.size === 0) waiting.delete(round.target);
      for (const action of actions) action();
    },
    forget() {
      const now = clock.elapsed();
      if (now - lookedAt < lookEveryMs) return;
      lookedAt = now;
      const before = now - keptMs;
      for (const [target, rounds] of waiting) {
        for (const [dueAt, { since }] of rounds) {
          if (since > before) break;
          rounds.delete(dueAt);
        }
        if (rounds.size === 0) waiting.delete(target);
      }
    },
  };
}
