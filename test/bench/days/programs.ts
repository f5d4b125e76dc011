import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, closeSync, globSync, openSync, readFileSync, statfsSync, writeFileSync } from 'node:fs';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { messageOf, systemCode } from '#kernel/errors.ts';
import { atHome } from './network.ts';
import type { Command, SetUp } from './systems/system.ts';

const stopMs = 20_000;

/** The programs of one system during a day. */
export interface Programs {
  start(): void;
  /** Ends them as a service manager does: SIGTERM, and SIGKILL after 20 s. */
  stop(): Promise<void>;
  /** Sends a signal to all of them with their children; SIGKILL ends them until the next start. */
  signal(signal: NodeJS.Signals): Promise<void>;
  /** Does what the unit file does at a reload. Resolves when the signal is sent or the check has refused. */
  reload(): Promise<void>;
  /** Appends to the file of the configuration what no configuration has. */
  breakConfiguration(): void;
  fillDisk(): Promise<void>;
  freeDisk(): void;
  /** The ids of all its processes, children included. */
  ids(): readonly number[];
  readonly setUp: SetUp;
}

export interface ProgramOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** Takes the words of a command and returns those that run it in its place; where the monitors are by default. */
  readonly wrap?: typeof atHome;
}

/** Starts programs; what they print goes into files in the folder. */
export function createPrograms(
  folder: string,
  setUp: SetUp,
  { environment = {}, wrap = atHome }: ProgramOptions = {},
): Programs {
  const children: ChildProcess[] = [];
  /** Those that are the system itself. */
  const own = () => children.filter((child, index) => setUp.commands[index]?.isApart !== true && isRunning(child));
  let isWanted = false;
  const filler = join(folder, 'filler');

  function launch(command: Command, index: number): void {
    const [program, ...args] = wrap(command.words);
    const output = openSync(join(folder, `output-${index}.log`), 'a');
    const child = spawn(program, args, {
      cwd: folder,
      env: { ...process.env, ...environment, ...command.environment },
      stdio: ['ignore', output, output],
    });
    closeSync(output);
    children[index] = child;
    child.once('exit', (code, signal) => {
      if (!isWanted || children[index] !== child) return;
      // The disk may be full: then this line is missing.
      const line = `${new Date().toISOString()} ${command.words.join(' ')} ended with ${String(code ?? signal)}\n`;
      writeUnlessFull(join(folder, 'ended.log'), line);
      // As Restart=on-failure of its unit file, with the default RestartSec of 100 ms.
      if (command.restarts === true && code !== 0) setTimeout(() => isWanted && launch(command, index), 100);
    });
  }

  async function signalAll(signal: NodeJS.Signals): Promise<void> {
    if (signal === 'SIGKILL') isWanted = false;
    const exits = own().map(async (child) => once(child, 'exit'));
    for (const pid of familiesOf(own())) sendSignal(pid, signal);
    if (signal === 'SIGKILL') await Promise.all(exits);
  }

  return {
    setUp,
    start() {
      isWanted = true;
      for (const [index, command] of setUp.commands.entries()) {
        const before = children[index];
        if (before === undefined || !isRunning(before)) launch(command, index);
      }
    },
    signal: signalAll,
    async stop() {
      isWanted = false;
      const exits = Promise.all(own().map(async (child) => once(child, 'exit')));
      for (const child of own()) child.kill('SIGTERM');
      const limit = new AbortController();
      await Promise.race([exits, sleep(stopMs, null, { signal: limit.signal }).catch(() => {})]);
      limit.abort();
      await signalAll('SIGKILL');
    },
    async reload() {
      if (setUp.check !== null) {
        const [program, ...args] = wrap(setUp.check);
        const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', timeout: stopMs });
        appendFileSync(join(folder, 'reload.log'), `check ended with ${String(status)}\n${stdout}${stderr}`);
        if (status !== 0) return;
      }
      const [first] = children;
      if (first?.pid !== undefined && isRunning(first)) sendSignal(first.pid, 'SIGHUP');
    },
    breakConfiguration: () => appendFileSync(setUp.configuration, '\n}}} : a mistake {{{\n'),
    async fillDisk() {
      // The system itself writes meanwhile, so that what was free a moment ago may be too much.
      for (let left = fillAttempts; left > 0; left -= 1) if (await fill(folder, filler, left > 1)) break;
      writeUnlessFull(filler, Buffer.alloc(1024 * 1024));
    },
    ids: () => familiesOf(own()),
    freeDisk: () => rmSync(filler, { force: true }),
  };
}

const fillAttempts = 10;

/** Whether a file took all that was free; if not, and that is allowed, there was less left than that. */
async function fill(folder: string, filler: string, mayFail: boolean): Promise<boolean> {
  const { bavail, bsize } = statfsSync(folder);
  try {
    // In a process of its own: targets and mail server are to answer meanwhile.
    await promisify(execFile)('fallocate', ['--length', String(bavail * bsize), filler]);
    return true;
  } catch (error) {
    if (!mayFail || !messageOf(error).includes('No space left on device')) throw error;
    return false;
  }
}

function isRunning({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null;
}

function writeUnlessFull(path: string, content: string | Buffer): void {
  try {
    writeFileSync(path, content, { flag: 'a' });
  } catch (error) {
    if (systemCode(error) !== 'ENOSPC') throw error;
  }
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // A plugin that has ended meanwhile.
    if (systemCode(error) !== 'ESRCH') throw error;
  }
}

/** Process ids of these children that run, and of all that they started. */
function familiesOf(children: readonly ChildProcess[]): readonly number[] {
  const parents = new Map<number, number>();
  for (const path of globSync('/proc/[0-9]*/stat')) {
    const pid = Number(path.split('/')[2]);
    const parent = parentOf(path);
    if (parent !== null) parents.set(pid, parent);
  }
  const found = new Set(children.flatMap(({ pid }) => (pid === undefined ? [] : [pid])));
  for (let size = -1; size !== found.size;) {
    size = found.size;
    for (const [pid, parent] of parents) if (found.has(parent)) found.add(pid);
  }
  return [...found];
}

function parentOf(path: string): number | null {
  try {
    // proc(5): the name in the second field may hold spaces and brackets.
    return Number(readFileSync(path, 'utf8').split(') ').at(-1)?.split(' ')[1]);
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ESRCH') return null;
    throw error;
  }
}
