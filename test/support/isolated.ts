import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Why this machine cannot give a process a network of its own, or null where it can. */
export async function whyNotIsolated(): Promise<string | null> {
  try {
    await run('unshare', ['--map-root-user', '--net', 'ip', 'link', 'set', 'lo', 'up']);
    return null;
  } catch (error) {
    return `needs "unshare --net" and "ip": ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Runs shell commands and then a module's code in a network namespace of their own; resolves with what it prints. */
export async function runIsolated(shell: string, code: string): Promise<string> {
  const script = `${shell}\nexec "$0" --input-type=module --eval "$1"`;
  const args = ['--map-root-user', '--net', 'sh', '-ec', script, process.execPath, code];
  const { stdout } = await run('unshare', args, { cwd: new URL('../..', import.meta.url).pathname, timeout: 20_000 });
  return stdout;
}
