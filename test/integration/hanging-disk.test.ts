import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { eventually } from '../support/program.ts';

// A disk whose system calls never come back holds up the thread that hears signals.

const watchpost = new URL('../../src/watchpost.js', import.meta.url).pathname;
let folder: string;
let child: ChildProcess | null = null;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'watchpost-hang-'));
});

afterEach(() => {
  child?.kill('SIGKILL');
  child = null;
  rmSync(folder, { recursive: true, force: true });
});

function start(data: string): ChildProcess {
  const path = join(folder, 'watchpost.yaml');
  writeFileSync(
    path,
    `data: ${data}
http: { listen: "127.0.0.1:0" }
defaults: { every: 1s }
targets: { shop: { check: tcp, host: "127.0.0.1:1" } }
`,
  );
  const started = spawn(process.execPath, [watchpost, 'run', '--config', path, '--log-level', 'fatal'], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  child = started;
  return started;
}

const waitsIn = (pid: number) => readFileSync(`/proc/${pid}/task/${pid}/wchan`, 'utf8');
const threadsOf = (pid: number) => readdirSync(`/proc/${pid}/task`).length;

test.skipIf(process.platform !== 'linux').each(['SIGTERM', 'SIGINT'] as const)(
  'a program whose main thread hangs in a system call ends by %s all the same',
  { timeout: 120_000 },
  async (signal) => {
    const data = join(folder, 'watchpost.db');
    // Nobody will ever read it: opening it to write waits for ever.
    execFileSync('mkfifo', [data]);
    const program = start(data);
    const exit = once(program, 'exit');
    await eventually(30_000, () => expect(waitsIn(program.pid ?? 0)).toBe('wait_for_partner'));
    program.kill(signal);
    expect(await exit).toEqual([signal === 'SIGTERM' ? 143 : 130, null]);
  },
);

const frozenDisk = `
  dd if=/dev/zero of="$0/image" bs=1M count=32 status=none && mkfs.ext4 -q "$0/image" &&
  mkdir -p "$0/disk" && mount -o loop "$0/image" "$0/disk"`;

function diskObstacle(): string | null {
  if (process.getuid?.() !== 0) return 'disks that can be frozen take root';
  const place = mkdtempSync(join(tmpdir(), 'watchpost-freeze-'));
  const { status } = spawnSync('unshare', ['--mount', 'sh', '-c', frozenDisk, place], { stdio: 'ignore' });
  rmSync(place, { recursive: true, force: true });
  return status === 0 ? null : 'needs "unshare --mount", "mkfs.ext4" and "mount -o loop"';
}

const obstacle = diskObstacle();

test.skipIf(obstacle !== null)(
  `where not even SIGKILL can end the thread that hangs, all others end, and the process with the disk's return${obstacle === null ? '' : ` (${obstacle})`}`,
  { timeout: 180_000 },
  async () => {
    const disk = join(folder, 'disk');
    mkdirSync(disk);
    execFileSync('sh', ['-c', frozenDisk, folder]);
    const program = start(join(disk, 'watchpost.db'));
    const pid = program.pid ?? 0;
    const exit = once(program, 'exit');
    try {
      await eventually(60_000, () => expect(threadsOf(pid)).toBeGreaterThan(8));
      execFileSync('fsfreeze', ['--freeze', disk]);
      await eventually(60_000, () => expect(readFileSync(`/proc/${pid}/task/${pid}/stat`, 'utf8')).toContain(') D '));
      program.kill('SIGTERM');
      await eventually(60_000, () => expect(threadsOf(pid)).toBe(1));
    } finally {
      spawnSync('fsfreeze', ['--unfreeze', disk], { stdio: 'ignore' });
      const ended = await Promise.race([exit, once(AbortSignal.timeout(60_000), 'abort')]);
      program.kill('SIGKILL');
      execFileSync('umount', [disk]);
      expect(ended).toEqual([143, null]);
    }
  },
);
