import { readFileSync } from 'node:fs';
import { type ChildProcess, execFileSync, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { messageOf } from '#kernel/errors.ts';

// What benchmarks do with other processes: start them, ask them, and read off /proc (proc(5)) what they used.

const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** Puts this process, and all it will start, before what else runs on the machine, where it may. */
export function comeFirst(): void {
  try {
    setPriority(-15);
  } catch (error) {
    console.log(`without priority (${messageOf(error)}): what else runs here shows in the figures\n`);
  }
}

/** CPU seconds that a process has used, all threads, user and system, to the clock tick (10 ms as a rule). */
export function cpuSeconds(pid: number): number {
  return secondsIn(`/proc/${pid}/stat`);
}

/** CPU seconds that a process and its children have used, of children those that have ended and were waited for. */
export function familyCpuSeconds(pid: number): number {
  return secondsIn(`/proc/${pid}/stat`, 4);
}

/** CPU seconds of one thread of a process. */
export function threadCpuSeconds(pid: number, thread: number): number {
  return secondsIn(`/proc/${pid}/task/${thread}/stat`);
}

function secondsIn(path: string, fieldCount: 2 | 4 = 2): number {
  // The name in the second field may hold spaces and brackets.
  const fields = readFileSync(path, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  // utime, stime, cutime, cstime.
  return fields.slice(11, 11 + fieldCount).reduce((sum, field) => sum + Number(field), 0) / ticksPerSecond;
}

/** What a process holds in memory now and held at the most, in bytes. */
export function memoryBytes(pid: number): { readonly now: number; readonly peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const figure = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1_024;
  return { now: figure('VmRSS'), peak: figure('VmHWM') };
}

/** What a process holds in memory, each page divided by the number of processes that share it, in bytes. */
export function sharedMemoryBytes(pid: number): number {
  return Number(/^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]) * 1_024;
}

/** Bytes that a process gave to write(2), and bytes of pages that it made the kernel write to the disk (0 on a tmpfs). */
export function writtenBytes(pid: number): { readonly calls: number; readonly disk: number } {
  const io = readFileSync(`/proc/${pid}/io`, 'utf8');
  const figure = (name: string) => Number(new RegExp(`^${name}: (\\d+)`, 'm').exec(io)?.[1]);
  return { calls: figure('wchar'), disk: figure('write_bytes') };
}

/** A child process that answers each message with one message. */
export interface Helper<Question, Answer> extends AsyncDisposable {
  readonly pid: number;
  ask(question: Question): Promise<Answer>;
}

export function startHelper<Question extends object, Answer>(
  module: URL,
  args: readonly string[] = [],
): Helper<Question, Answer> {
  const child = fork(module, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  return {
    pid: pidOf(child),
    async ask(question) {
      child.send(question);
      return new Promise<Answer>((resolve, reject) => {
        const onExit = () => reject(new Error(`${module.pathname} ended before it answered`));
        child.once('exit', onExit);
        child.once('message', (answer: Answer) => {
          child.off('exit', onExit);
          resolve(answer);
        });
      });
    },
    async [Symbol.asyncDispose]() {
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
    },
  };
}

/** The other side of `startHelper`: answers until it is ended. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- says what the questions are
export function answerQuestions<Question>(answer: (question: Question) => Promise<unknown>): void {
  process.on('message', (question: Question) => {
    void answer(question).then((reply) => process.send?.(reply));
  });
  process.once('disconnect', () => process.exit());
}

export interface Program extends AsyncDisposable {
  readonly pid: number;
}

/** Starts a program and waits until `url` answers. */
export async function startServer(command: readonly [string, ...string[]], url: string): Promise<Program> {
  const [file, ...args] = command;
  const child = spawn(file, args, { stdio: 'ignore' });
  const failed = once(child, 'exit').then(() => 'exited');
  for (let tries = 0; ; tries += 1) {
    const seen = await Promise.race([
      fetch(url).then(
        () => 'up',
        () => 'down',
      ),
      failed,
    ]);
    if (seen === 'up') break;
    if (seen === 'exited' || tries > 100) throw new Error(`${file} does not serve ${url}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { pid: pidOf(child), [Symbol.asyncDispose]: async () => end(child) };
}

function pidOf({ pid }: ChildProcess): number {
  if (pid === undefined) throw new Error('the process did not start');
  return pid;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}

/** Why a program cannot be run here, or null where it can. */
export function missing(program: string): string | null {
  try {
    execFileSync('which', [program], { stdio: 'ignore' });
    return null;
  } catch {
    return `${program} is not installed`;
  }
}
