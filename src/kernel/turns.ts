import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from './clock.ts';

/** Work that yields wherever others may come first. */
export type Steps<Result> = Generator<void, Result, void>;

/** How long a turn lasts, in milliseconds: as long as others had theirs, within these limits. */
export interface TurnLimits {
  readonly leastMs: number;
  readonly mostMs: number;
}

const usual: TurnLimits = { leastMs: 8, mostMs: 40 };

/** Does all of it at once. */
export function inOneGo<Result>(steps: Steps<Result>): Result {
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}

/**
 * Does it in turns of eight milliseconds, between which the thread does other things. If those take longer, a turn is as long as they
 * were, up to 40 ms: a busy thread would not come to the end of it. A turn ends between two steps only. Rejects with the reason of the
 * signal when that is aborted.
 */
export async function inSteps<Result>(
  steps: Steps<Result>,
  clock: Pick<Clock, 'elapsed'>,
  signal?: AbortSignal,
): Promise<Result> {
  const rest = createRests(clock, signal);
  let step = steps.next();
  while (step.done !== true) {
    await rest();
    step = steps.next();
  }
  return step.value;
}

/** To be called between the steps of work that waits for other things too: lets the thread do others in turn. Takes turns and rejects like `inSteps`. */
export function createRests(
  clock: Pick<Clock, 'elapsed'>,
  signal?: AbortSignal,
  { leastMs, mostMs }: TurnLimits = usual,
): () => Promise<void> {
  let began = clock.elapsed();
  let turnMs = leastMs;
  return async () => {
    const ended = clock.elapsed();
    if (ended - began < turnMs) return;
    await nextTurn();
    signal?.throwIfAborted();
    began = clock.elapsed();
    turnMs = Math.min(Math.max(began - ended, leastMs), mostMs);
  };
}
