import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { messageOf, WatchpostError } from '#kernel/errors.ts';

/** How nats-server is made to read its configuration again; with neither it is left alone. */
export interface Reload {
  /** A command for the shell. */
  readonly reloadCommand?: string | undefined;
  /** The file that holds the process id of nats-server. */
  readonly pidFile?: string | undefined;
}

/** Signals nats-server that the list of nodes has changed; false if its process id file is not configured. */
export async function reloadServer(
  { reloadCommand, pidFile }: Reload,
  hangUp: (pid: number) => void,
): Promise<boolean> {
  try {
    if (pidFile !== undefined) hangUp(processIdOf(await readFile(pidFile, 'utf8')));
    else if (reloadCommand === undefined) return false;
    else await promisify(execFile)('sh', ['-c', reloadCommand]);
    return true;
  } catch (error) {
    const reason = `the files are written, but nats-server could not be signalled: ${messageOf(error)}; reload it by hand`;
    throw new WatchpostError('internal', reason, { cause: error });
  }
}

function processIdOf(text: string): number {
  const pid = Number(text.trim());
  // 0 and negative numbers would be whole groups of processes.
  if (!Number.isSafeInteger(pid) || pid < 2) throw new Error('the file holds no process id');
  return pid;
}
