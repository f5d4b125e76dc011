import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { WatchpostError } from '#kernel/errors.ts';
import type { AskedChore, ToldChore } from './chore-thread.ts';

/** `examine` of reading.ts, beside everything else. */
export async function examineBeside(path: string, signal: AbortSignal): Promise<readonly string[]> {
  const told = await tell({ kind: 'examine', path }, signal);
  return told.damage;
}

type Done = Exclude<ToldChore, { kind: 'failed' }>;

async function tell(chore: AskedChore, signal: AbortSignal): Promise<Done> {
  signal.throwIfAborted();
  const worker = new Worker(new URL('./chore-thread.ts', import.meta.url), { workerData: chore });
  try {
    // A thread of ours says one thing, of this very type.
    const [told] = (await once(worker, 'message', { signal })) as [ToldChore]; // oxlint-disable-line typescript/no-unsafe-type-assertion
    if (told.kind === 'failed') throw new WatchpostError(told.code, told.message);
    return told;
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    await worker.terminate();
  }
}
