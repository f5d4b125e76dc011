import { parentPort, workerData } from 'node:worker_threads';
import { type ErrorCode, messageOf, WatchpostError } from '#kernel/errors.ts';
import { nameSourcesInStackTraces } from '#kernel/stack-traces.ts';
import { examine } from './reading.ts';

nameSourcesInStackTraces();

// Work on a whole file, which SQLite does in one piece, in a thread of its own: meanwhile the command tells how it gets on, and can be
// interrupted.

/** What is done with a whole file, which takes long if it is large. */
export interface ChoreRequest {
  readonly kind: 'examine';
  readonly path: string;
}

export type ChoreResult =
  | { readonly kind: 'examined'; readonly damage: readonly string[] }
  | { readonly kind: 'failed'; readonly code: ErrorCode; readonly message: string };

function done(chore: ChoreRequest): ChoreResult {
  try {
    return { kind: 'examined', damage: examine(chore.path) };
  } catch (error) {
    return {
      kind: 'failed',
      code: error instanceof WatchpostError ? error.code : 'internal',
      message: messageOf(error),
    };
  }
}

function answer(port: typeof parentPort): void {
  // Only chores.ts starts this thread, with a chore of this very type.
  port?.postMessage(done(workerData as ChoreRequest)); // oxlint-disable-line typescript/no-unsafe-type-assertion
}

answer(parentPort);
