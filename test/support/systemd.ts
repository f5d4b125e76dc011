import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { TestContext } from 'vitest';
import { mortal } from './children.ts';
import { needsProgram } from './programs.ts';

/** A systemd of its own with its message bus, in namespaces: it manages only the units that a test gives it. */
export interface Systemd extends AsyncDisposable {
  /** The socket of the message bus. */
  readonly socket: string;
  /** Adds a unit. */
  readonly unit: (name: string, ...lines: readonly string[]) => Promise<void>;
  /** A command of `systemctl --user`; its exit code is not looked at. */
  readonly systemctl: (...args: readonly string[]) => Promise<void>;
  /** Stops or goes on with systemd itself; the bus runs on. */
  readonly signal: (signal: 'SIGSTOP' | 'SIGCONT') => void;
  /** Ends everything. */
  readonly end: () => Promise<void>;
}

const program = '/lib/systemd/systemd';
const cgroupRoots = ['/sys/fs/cgroup/systemd', '/sys/fs/cgroup/unified', '/sys/fs/cgroup'];

/** Skips where it cannot run. */
export function needsSystemd(context: TestContext): void {
  if (process.getuid?.() !== 0) context.skip('namespaces take root');
  needsProgram(context, 'systemctl', 'systemd');
  needsProgram(context, 'dbus-daemon', 'dbus-user-session');
}

export async function startSystemd(): Promise<Systemd> {
  const folder = mkdtempSync(join(tmpdir(), 'watchpost-systemd-'));
  const units = join(folder, 'systemd/user');
  mkdirSync(units, { recursive: true });
  const groups = cgroupRoots
    .filter((root) => existsSync(join(root, 'cgroup.procs')))
    .map((root) => join(root, basename(folder)));
  for (const group of groups) mkdirSync(group);
  // It begins only on a machine that systemd has booted, as far as it can see; its processes are in control groups of its own.
  const script = `for group; do echo $$ >"$group/cgroup.procs"; done
    mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/system
    echo $$ >"$XDG_RUNTIME_DIR/pid" && exec ${program} --user --unit=basic.target`;
  const environment = { PATH: process.env['PATH'], HOME: folder, XDG_RUNTIME_DIR: folder };
  const child = mortal(
    spawn('unshare', ['--mount', 'sh', '-c', script, 'sh', ...groups], {
      stdio: 'ignore',
      env: environment,
      detached: true,
    }),
  );
  const end = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill('SIGCONT');
    // It ends its services first.
    child.kill('SIGTERM');
    await exit;
  };
  const systemctl = async (...args: readonly string[]) => {
    const enter = ['--mount', `--target=${child.pid}`, 'systemctl', '--user', ...args];
    try {
      await promisify(execFile)('nsenter', enter, { env: environment, timeout: 30_000 });
    } catch (error) {
      // A unit that fails at once is what a test wants.
      if (!(error instanceof Error && 'code' in error && typeof error.code === 'number')) throw error;
    }
  };
  const socket = join(folder, 'bus');
  const until = Date.now() + 30_000;
  while (!existsSync(socket) || !existsSync(join(folder, 'systemd/private'))) {
    if (child.exitCode !== null || Date.now() > until) throw new Error('systemd did not start');
    await sleep(50);
  }
  const pid = Number(readFileSync(join(folder, 'pid'), 'utf8'));
  return {
    socket,
    systemctl,
    end,
    signal: (signal) => void process.kill(pid, signal),
    async unit(name, ...lines) {
      writeFileSync(join(units, name), `${lines.join('\n')}\n`);
      await systemctl('daemon-reload');
    },
    async [Symbol.asyncDispose]() {
      await end();
      for (const group of groups) execFileSync('find', [group, '-depth', '-type', 'd', '-delete']);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
