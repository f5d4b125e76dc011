import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeKeyPair } from '#transport/nats/keys.ts';
import { mortal } from '../support/children.ts';
import { eventually } from '../support/program.ts';
import { testedProgram } from '../support/tested-program.ts';

// A disk whose system calls never come back holds up the thread that hears signals.

const hangMain = new URL('../fixtures/hang-main.mjs', import.meta.url).href;

/** A folder with a program in it, which ends with the test. */
interface Place extends Disposable {
  readonly folder: string;
  readonly data: string;
  /** Writes the configuration; gives its file. */
  configure(data?: string, rest?: string): string;
  launch(args: readonly string[], env?: Readonly<Record<string, string>>): ChildProcess;
  start(data?: string): ChildProcess;
  /** What has the main thread hang from SIGUSR2 on, and ends every other thread once there is a file "crash". */
  hanging(): Readonly<Record<string, string>>;
}

function createPlace(): Place {
  const folder = mkdtempSync(join(tmpdir(), 'watchpost-hang-'));
  const ownData = join(folder, 'watchpost.db');
  let child: ChildProcess | null = null;
  const place: Place = {
    folder,
    data: ownData,
    configure(data = ownData, rest = '') {
      const path = join(folder, 'watchpost.yaml');
      writeFileSync(
        path,
        `data: ${data}
http: { listen: "127.0.0.1:0" }
defaults: { every: 1s }
targets: { shop: { check: tcp, host: "127.0.0.1:1" } }
${rest}`,
      );
      return path;
    },
    launch(args, env = {}) {
      child = mortal(
        spawn(process.execPath, [testedProgram, ...args, '--log-level', 'fatal'], {
          env: { ...process.env, ...env },
          stdio: ['ignore', 'inherit', 'inherit'],
        }),
      );
      return child;
    },
    start: (data) => place.launch(['run', '--config', place.configure(data)]),
    hanging() {
      const fifo = join(folder, 'fifo');
      execFileSync('mkfifo', [fifo]);
      return { NODE_OPTIONS: `--import=${hangMain}`, HANG_FIFO: fifo, HANG_CRASH: join(folder, 'crash') };
    },
    [Symbol.dispose]() {
      child?.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return place;
}

const waitsIn = (pid: number) => readFileSync(`/proc/${pid}/task/${pid}/wchan`, 'utf8');
const threadsOf = (pid: number) => readdirSync(`/proc/${pid}/task`).length;

/** Which threads look whether the main one goes on, by name. */
function guardsOf({ pid = 0 }: ChildProcess): readonly string[] {
  return readdirSync(`/proc/${pid}/task`)
    .map((thread) => readFileSync(`/proc/${pid}/task/${thread}/comm`, 'utf8').trim())
    .filter((name) => name === 'stop guard' || name.startsWith('node '))
    .toSorted();
}

async function endsThoughItHangs(program: ChildProcess): Promise<void> {
  const exit = once(program, 'exit');
  program.kill('SIGUSR2');
  await eventually(60_000, () => expect(waitsIn(program.pid ?? 0)).toBe('wait_for_partner'));
  program.kill('SIGTERM');
  // By itself: nothing else would end it.
  expect(await exit).toEqual([143, null]);
}

test.skipIf(process.platform !== 'linux').concurrent.each(['SIGTERM', 'SIGINT'] as const)(
  'a program whose main thread hangs in a system call ends by %s all the same',
  { timeout: 120_000 },
  async (signal) => {
    using place = createPlace();
    // Nobody will ever read it: opening it to write waits for ever.
    execFileSync('mkfifo', [place.data]);
    const program = place.start();
    const exit = once(program, 'exit');
    await eventually(60_000, () => expect(waitsIn(program.pid ?? 0)).toBe('wait_for_partner'));
    program.kill(signal);
    expect(await exit).toEqual([signal === 'SIGTERM' ? 143 : 130, null]);
  },
);

describe
  .skipIf(process.platform !== 'linux')
  .concurrent('a program that hangs later ends by SIGTERM', { timeout: 180_000 }, () => {
    test('with the thread of its node as the only one that looks', async () => {
      using place = createPlace();
      const program = place.launch(['run', '--config', place.configure()], place.hanging());
      await eventually(60_000, () => expect(guardsOf(program)).toEqual(['node zz1']));
      await endsThoughItHangs(program);
    });

    test('as a node on a machine of its own', async () => {
      using place = createPlace();
      const seed = join(place.folder, 'seed');
      writeFileSync(seed, makeKeyPair().seed.reveal(), { mode: 0o600 });
      const args = ['--name', 'de1', '--servers', 'nats://127.0.0.1:1', '--seed-file', seed];
      const program = place.launch(['node', ...args, '--spool-file', join(place.folder, 'spool.db')], place.hanging());
      await eventually(60_000, () => expect(guardsOf(program)).toEqual(['node de1']));
      await endsThoughItHangs(program);
    });

    test('while the thread of its node is gone, and after a new one took over', async () => {
      using place = createPlace();
      const environment = place.hanging();
      const program = place.launch(['run', '--config', place.configure()], environment);
      await eventually(60_000, () => expect(guardsOf(program)).toEqual(['node zz1']));
      writeFileSync(environment['HANG_CRASH'] ?? '', '');
      await eventually(60_000, () => expect(guardsOf(program)).toEqual(['stop guard']));
      rmSync(environment['HANG_CRASH'] ?? '');
      await eventually(60_000, () => expect(guardsOf(program)).toEqual(['node zz1']));
      await endsThoughItHangs(program);
    });

    test('after a reload took away its last node', async () => {
      using place = createPlace();
      const program = place.launch(['run', '--config', place.configure()], place.hanging());
      await eventually(60_000, () => expect(guardsOf(program)).toEqual(['node zz1']));
      place.configure(place.data, 'service: { url: "http://127.0.0.1:1/" }\n');
      program.kill('SIGHUP');
      await eventually(60_000, () => expect(guardsOf(program)).toEqual(['stop guard']));
      await endsThoughItHangs(program);
    });

    test('with plugins, whose start may hang as well: by a thread of its own', async () => {
      using place = createPlace();
      const path = place.configure(place.data, 'plugins: { any: [/bin/true] }\n');
      const program = place.launch(['run', '--config', path], place.hanging());
      await eventually(60_000, () => expect(guardsOf(program)).toEqual(['node zz1', 'stop guard']));
      await endsThoughItHangs(program);
    });
  });

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

test
  .skipIf(obstacle !== null)
  .concurrent(
    `where not even SIGKILL can end the thread that hangs, all others end, and the process with the disk's return${obstacle === null ? '' : ` (${obstacle})`}`,
    { timeout: 180_000 },
    async () => {
      using place = createPlace();
      const disk = join(place.folder, 'disk');
      mkdirSync(disk);
      execFileSync('sh', ['-c', frozenDisk, place.folder]);
      const program = place.start(join(disk, 'watchpost.db'));
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
