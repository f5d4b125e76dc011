import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { type Clock, orAbort, sleepUnlessAborted } from '#kernel/clock.ts';
import { messageOf } from '#kernel/errors.ts';

const mostBytes = 65_536;
// What a program wrote before it ended is there at once: the pipe is not waited for longer, since its children may keep it open.
const pipeMs = 250;
const killMs = 1_000;
// Limits must hold before the program begins, which only the process itself can see to. The arguments are passed on, not read:
// they are no part of this text. 2 GiB of memory, no core files, and processor time for one that outlives this process.
const limited = 'ulimit -v 2097152; ulimit -c 0; ulimit -t "$0"; exec nice -n 10 "$@"';

/** How a program ended. */
export type PluginRun =
  | { readonly kind: 'ended'; readonly code: number; readonly output: Buffer; readonly errors: Buffer }
  | { readonly kind: 'killed'; readonly signal: string }
  | { readonly kind: 'flood' }
  | { readonly kind: 'not_started'; readonly reason: string };

export interface ProgramCall {
  readonly program: string;
  readonly arguments: readonly string[];
  readonly seconds: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Runs a program in a process group of its own, with PATH and LC_ALL only, and kills the whole group however it ends. Rejects with
 * the signal's reason.
 */
export async function runProgram(options: ProgramCall): Promise<PluginRun> {
  const { clock, signal } = options;
  signal.throwIfAborted();
  const started = await start(options);
  if ('reason' in started) return { kind: 'not_started', reason: started.reason };
  const { child, pid } = started;
  const ended = new Promise<readonly [number | null, string | null]>((resolve) => {
    child.once('exit', (code, by) => resolve([code, by]));
  });
  const closed = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
  });
  const flooding = new AbortController();
  const output = collect(child.stdout, flooding);
  const errors = collect(child.stderr, flooding);
  try {
    const [code, by] = await orAbort(ended, AbortSignal.any([signal, flooding.signal]));
    killGroup(pid);
    await Promise.race([closed, sleepUnlessAborted(clock, pipeMs, signal)]);
    if (flooding.signal.aborted) return { kind: 'flood' };
    if (code === null) return { kind: 'killed', signal: by ?? 'a signal' };
    return { kind: 'ended', code, output: output(), errors: errors() };
  } catch (error) {
    signal.throwIfAborted();
    if (flooding.signal.aborted) return { kind: 'flood' };
    throw error;
  } finally {
    killGroup(pid);
    await Promise.race([ended, sleepUnlessAborted(clock, killMs, new AbortController().signal)]);
    child.stdout.destroy();
    child.stderr.destroy();
  }
}

type PluginProcess = ChildProcessByStdio<null, Readable, Readable>;

async function start({
  program,
  arguments: given,
  seconds,
}: ProgramCall): Promise<{ readonly child: PluginProcess; readonly pid: number } | { readonly reason: string }> {
  try {
    const child = spawn('/bin/sh', ['-c', limited, String(seconds), program, ...given], {
      cwd: '/',
      env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    const { pid } = child;
    if (pid !== undefined) return { child, pid };
    const [error]: unknown[] = await once(child, 'error');
    return { reason: messageOf(error) };
  } catch (error) {
    return { reason: messageOf(error) };
  }
}

function collect(stream: Readable, flooding: AbortController): () => Buffer {
  const pieces: Buffer[] = [];
  let bytes = 0;
  stream.on('data', (piece: Buffer) => {
    bytes += piece.length;
    if (bytes > mostBytes) return flooding.abort();
    pieces.push(piece);
  });
  // What cannot be read any more is of no use.
  stream.on('error', () => flooding.abort());
  return () => Buffer.concat(pieces);
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // All of them have ended.
    if (!(error instanceof Error && 'code' in error && (error.code === 'ESRCH' || error.code === 'EPERM'))) throw error;
  }
}
