import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { TestContext } from 'vitest';
import { mortal } from './children.ts';
import { needsProgram } from './programs.ts';

/** Podman, which speaks the API of Docker over a socket, with images and containers of its own. */
export interface Podman extends AsyncDisposable {
  readonly socket: string;
  /** Starts a container of busybox. */
  readonly run: (name: string, options?: readonly string[], command?: readonly string[]) => Promise<void>;
  /** A command of podman's own. */
  readonly command: (...args: readonly string[]) => Promise<void>;
  readonly freeze: () => void;
  readonly thaw: () => void;
  /** Ends the engine; containers run on. */
  readonly end: () => Promise<void>;
}

const image = 'busybox:1';
const busybox = '/bin/busybox';

/** Skips where containers cannot run. */
export function needsPodman(context: TestContext): void {
  if (process.getuid?.() !== 0) context.skip('containers take root');
  needsProgram(context, 'podman', 'podman');
  needsProgram(context, 'runc', 'runc');
  if (spawnSync('sh', ['-c', `! ldd ${busybox}`], { stdio: 'ignore' }).status !== 0)
    context.skip(`${busybox} is not static (apt-get install busybox-static)`);
}

export async function startPodman(): Promise<Podman> {
  const folder = mkdtempSync(join(tmpdir(), 'watchpost-podman-'));
  const socket = join(folder, 'engine.sock');
  const options = [
    ['root', join(folder, 'root')],
    ['runroot', join(folder, 'run')],
    ['tmpdir', join(folder, 'tmp')],
    ['storage-driver', 'vfs'],
    ['cgroup-manager', 'cgroupfs'],
    ['runtime', 'runc'],
    ['events-backend', 'file'],
  ].map(([name, value]) => `--${name}=${value}`);
  const command = async (...args: readonly string[]) =>
    void (await promisify(execFile)('podman', [...options, ...args], { timeout: 60_000 }));
  importImage(folder, options);
  const engine = mortal(
    spawn('podman', [...options, 'system', 'service', '--time=0', `unix://${socket}`], { stdio: 'ignore' }),
  );
  const end = async () => {
    if (engine.exitCode !== null || engine.signalCode !== null) return;
    const exit = once(engine, 'exit');
    engine.kill('SIGKILL');
    await exit;
  };
  const until = Date.now() + 30_000;
  while (!existsSync(socket)) {
    if (engine.exitCode !== null || Date.now() > until) throw new Error('podman did not start');
    await sleep(50);
  }
  return {
    socket,
    command,
    end,
    freeze: () => void engine.kill('SIGSTOP'),
    thaw: () => void engine.kill('SIGCONT'),
    async run(name, more = [], program = ['sleep', '600']) {
      // The limits are those that a user without CAP_SYS_RESOURCE may set.
      const limits = ['--ulimit', 'nofile=1024:1024', '--ulimit', 'nproc=1000:1000'];
      await command('run', '--detach', '--name', name, '--network', 'none', ...limits, ...more, image, ...program);
    },
    async [Symbol.asyncDispose]() {
      await end();
      await command('rm', '--all', '--force', '--time', '0');
      // What looks after a container writes down its end.
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

function importImage(folder: string, options: readonly string[]): void {
  const programs = join(folder, 'image', 'bin');
  mkdirSync(programs, { recursive: true });
  copyFileSync(busybox, join(programs, 'busybox'));
  for (const name of ['sh', 'sleep', 'test', 'touch']) symlinkSync('busybox', join(programs, name));
  const archive = execFileSync('tar', ['--create', '--directory', join(folder, 'image'), '.'], {
    maxBuffer: 16 * 1_048_576,
  });
  execFileSync('podman', [...options, 'import', '-', image], { input: archive, stdio: ['pipe', 'ignore', 'ignore'] });
}
