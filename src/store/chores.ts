import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { WatchpostError } from '#kernel/errors.ts';
import type { ChoreRequest, ChoreResult } from './chore-thread.ts';

/** `examine` of reading.ts, beside everything else. */
export async function examineInThread(path: string, signal: AbortSignal): Promise<readonly string[]> {
  const result = await runInThread({ kind: 'examine', path }, signal);
  return result.damage;
}

type CompletedChore = Exclude<ChoreResult, { kind: 'failed' }>;

async function runInThread(chore: ChoreRequest, signal: AbortSignal): Promise<CompletedChore> {
  signal.throwIfAborted();
  const worker = new Worker(new URL('./chore-thread.ts', import.meta.url), { workerData: chore });
  try {
    // A thread of ours says one thing, of this very type.
    const [result] = (await once(worker, 'message', { signal })) as [ChoreResult]; // oxlint-disable-line typescript/no-unsafe-type-assertion
    if (result.kind === 'failed') throw new WatchpostError(result.code, result.message);
    return result;
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    await worker.terminate();
  }
}
