import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

export interface Starvation {
  /** How long it runs in one go, in milliseconds of its processor, or if it waits for something some 40 by the clock. */
  readonly runMs: number;
  /** How long it is stopped in between. */
  readonly restMs: number;
  /** Whose time counts. */
  readonly of: 'main thread' | 'all threads';
}

const mostPauses = 40;

/** For how long a process or a thread has run, in milliseconds. A thread that has ended meanwhile has run for nothing. */
function ranMs(folder: string): number {
  try {
    return Number(readFileSync(`${folder}/schedstat`, 'utf8').split(' ')[0]) / 1_000_000;
  } catch (error) {
    if (isGone(error)) return 0;
    throw error;
  }
}

const isGone = (error: unknown) =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH');

const ran: Readonly<Record<Starvation['of'], (pid: number) => number>> = {
  'main thread': (pid) => ranMs(`/proc/${pid}`),
  'all threads': (pid) =>
    readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + ranMs(`/proc/${pid}/task/${thread}`), 0),
};

/** Leaves a process a part of a processor, as a cgroup would, until it is disposed: as much where others use the processors too. */
export function starve({ pid = 0 }: Pick<ChildProcess, 'pid'>, { runMs, restMs, of }: Starvation): AsyncDisposable {
  const end = new AbortController();
  async function take(): Promise<void> {
    while (!end.signal.aborted) {
      process.kill(pid, 'SIGSTOP');
      await pause(restMs);
      const until = ran[of](pid) + runMs;
      process.kill(pid, 'SIGCONT');
      for (let times = 0; times < mostPauses && ran[of](pid) < until; times += 1) await pause(1);
    }
  }
  const taken = take();
  return {
    async [Symbol.asyncDispose]() {
      end.abort();
      await taken;
    },
  };
}
