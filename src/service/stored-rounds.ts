import type { Clock } from '#kernel/clock.ts';
import type { ResultBatch } from './ports.ts';
import { formatRunName, type RoundKey } from '#protocol/run-name.ts';

/** What is to be done once rounds are stored. */
export interface StoredRounds {
  after(round: RoundKey, action: () => void): void;
  /** To be called when a round is stored, by its name. */
  stored(round: string): void;
  /** Nothing is done for rounds that were not stored for minutes: the node sends its results again. */
  forget(): void;
}

const keptMs = 300_000;

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
  const waiting = new Map<string, { readonly since: number; readonly actions: (() => void)[] }>();
  return {
    after(round, action) {
      const name = formatRunName(round);
      const known = waiting.get(name);
      if (known === undefined) waiting.set(name, { since: clock.elapsed(), actions: [action] });
      else known.actions.push(action);
    },
    stored(round) {
      const actions = waiting.get(round)?.actions ?? [];
      waiting.delete(round);
      for (const action of actions) action();
    },
    forget() {
      const before = clock.elapsed() - keptMs;
      for (const [name, { since }] of waiting) {
        if (since > before) return;
        waiting.delete(name);
      }
    },
  };
}
