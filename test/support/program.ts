import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import Database from 'better-sqlite3';
import { deadline, orAbort, systemClock } from '#kernel/clock.ts';
import { mortal } from './children.ts';
import { testedProgram } from './tested-program.ts';

const longestWaitMs = 100_000;
const root = new URL('../../', import.meta.url).pathname;

/** The line of the log that says where the program listens. */
interface LogLine {
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** The real program as a child process, in a folder of its own that outlives its restarts. */
export interface Program extends AsyncDisposable {
  readonly folder: string;
  readonly database: string;
  /** Starts it with `config` as its configuration and waits until it serves HTTP. */
  start(config: string): Promise<Running>;
}

export interface Running {
  readonly url: string;
  readonly process: ChildProcess;
  readonly log: readonly LogLine[];
  /** Waits for a log line, for 100 s at the most. */
  readonly logged: (message: RegExp) => Promise<LogLine>;
  /** Sends the signal and waits for the end. */
  readonly end: (
    signal: NodeJS.Signals,
  ) => Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
}

export interface ProgramOptions {
  /** The folder with the program to run; default: what `tested-program.ts` says. */
  readonly house?: string;
  /** Variables that it has besides ours. */
  readonly environment?: NodeJS.ProcessEnv;
  /** A command that runs it, `ip netns exec` for instance. */
  readonly prefix?: readonly string[];
  /** Where its folder is made; default: with other temporary files. */
  readonly disk?: string;
}

export async function createProgram(options: ProgramOptions = {}): Promise<Program> {
  const folder = await mkdtemp(join(options.disk ?? tmpdir(), 'watchpost-'));
  const children: ChildProcess[] = [];
  return {
    folder,
    database: join(folder, 'watchpost.db'),
    async start(config) {
      const path = join(folder, 'watchpost.yaml');
      await writeFile(path, config);
      const running = await launch(path, options);
      children.push(running.process);
      return running;
    },
    async [Symbol.asyncDispose]() {
      for (const child of children) await ended(child, 'SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function launch(config: string, { house, environment = {}, prefix = [] }: ProgramOptions): Promise<Running> {
  const script = house === undefined ? testedProgram : join(house, 'src/watchpost.js');
  const [command, ...args] = [...prefix, process.execPath, script, 'run', '--config', config];
  const child = mortal(
    spawn(command, args, {
      cwd: house ?? root,
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'inherit', 'pipe'],
    }),
  );
  const log: LogLine[] = [];
  const waiting = new Set<() => void>();
  const exited = once(child, 'exit');
  createInterface({ input: child.stderr }).on('line', (line) => {
    log.push(line.startsWith('{') ? (JSON.parse(line) as LogLine) : { msg: line });
    for (const look of waiting) look();
  });
  const logged = async (message: RegExp) => {
    using limit = deadline(systemClock, longestWaitMs);
    for (;;) {
      const found = log.find(({ msg }) => message.test(msg));
      if (found !== undefined) return found;
      const cause = child.exitCode ?? child.signalCode;
      if (cause !== null) throw new Error(`the program ended with ${cause}:\n${printed(log)}`);
      const heard = new Promise<void>((resolve) => waiting.add(resolve));
      try {
        await orAbort(Promise.race([heard, exited]), limit.signal);
      } catch (error) {
        throw new Error(`the program does not log ${message}:\n${printed(log)}`, { cause: error });
      }
    }
  };
  const { url } = await logged(/^web server listens/);
  return { url: String(url), process: child, log, logged, end: (signal) => ended(child, signal) };
}

async function ended(child: ChildProcess, signal: NodeJS.Signals) {
  if (child.exitCode === null && child.signalCode === null) {
    const exit = once(child, 'exit');
    child.kill(signal);
    await exit;
  }
  return { code: child.exitCode, signal: child.signalCode };
}

function printed(log: readonly LogLine[]): string {
  return log.map((line) => JSON.stringify(line)).join('\n');
}

/** Rows of a query on a database that another process is using. */
export function query(path: string, sql: string): readonly Record<string, unknown>[] {
  const database = new Database(path, { readonly: true });
  try {
    return database.prepare<[], Record<string, unknown>>(sql).all();
  } finally {
    database.close();
  }
}

const shortestPauseMs = 50;
const longestPauseMs = 250;

/** Tries until it passes, for at most `ms`; then fails as the last try did. */
export async function eventually<Result>(ms: number, attempt: () => Promise<Result> | Result): Promise<Result> {
  const began = performance.now();
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      const waitedMs = performance.now() - began;
      if (waitedMs > ms) throw error;
      // Tries take processor time from what is waited for: after seconds a twentieth more of them does not matter.
      const pauseMs = Math.min(Math.max(waitedMs / 20, shortestPauseMs), longestPauseMs);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}
