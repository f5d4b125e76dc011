import { parentPort, workerData } from 'node:worker_threads';
import { messageOf, WatchpostError } from '#kernel/errors.ts';
import type { AskedChore, ToldChore } from './chores.ts';
import { backUp, examine } from './reading.ts';

// Work on a whole file, which SQLite does in one piece, in a thread of its own: meanwhile the command tells how it gets on, and can be
// interrupted.

function done(chore: AskedChore): ToldChore {
  try {
    if (chore.kind === 'back up') return { kind: 'backed up', bytes: backUp(chore.path, chore.copy) };
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
  port?.postMessage(done(workerData as AskedChore)); // oxlint-disable-line typescript/no-unsafe-type-assertion
}

answer(parentPort);
