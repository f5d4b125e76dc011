import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { systemCode } from '#kernel/errors.ts';
import { mortal } from './children.ts';

const require = createRequire(import.meta.url);
const ask = `const [, library, file, sql] = process.argv;
const database = new (require(library))(file, { readonly: true });
process.stdout.write(JSON.stringify(database.prepare(sql).all()));`;

/** A disk of its own, which only programs that are started on it see under its name. */
export interface SmallDisk extends AsyncDisposable {
  /** Its folder, for programs on it. */
  readonly folder: string;
  /** The words that start a command on it. */
  on(command: readonly string[]): readonly [string, ...string[]];
  /** Rows of a query on a database in its folder. */
  query(file: string, sql: string): readonly Record<string, unknown>[];
  /** Leaves no room on it. */
  fill(): void;
  /** Makes room again. */
  free(): void;
}

/** Why such disks cannot be made here, or null where they can. */
export function diskObstacle(): string | null {
  if (process.getuid?.() !== 0) return 'disks of their own take root';
  const { status } = spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']);
  return status === 0 ? null : 'needs "unshare --mount" and "mount"';
}

export async function createSmallDisk(size: string): Promise<SmallDisk> {
  const folder = await mkdtemp(join(tmpdir(), 'watchpost-disk-'));
  const script = 'mount -t tmpfs -o "size=$1" tmpfs "$0" && echo mounted && exec cat';
  const keeper = mortal(
    spawn('unshare', ['--mount', 'sh', '-c', script, folder, size], {
      stdio: ['pipe', 'pipe', 'inherit'],
    }),
  );
  await mounted(keeper);
  const outside = `/proc/${keeper.pid}/root${folder}`;
  const words = ['--mount', '--target', String(keeper.pid)];
  return {
    folder,
    on: (command) => ['nsenter', ...words, ...command],
    // SQLite follows links by their text, so it has to be on the disk itself.
    query(file, sql) {
      const args = [
        ...words,
        process.execPath,
        '--eval',
        ask,
        require.resolve('better-sqlite3'),
        join(folder, file),
        sql,
      ];
      return JSON.parse(
        execFileSync('nsenter', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }),
      ) as readonly Record<string, unknown>[];
    },
    ...fillerIn(outside),
    async [Symbol.asyncDispose]() {
      const exit = once(keeper, 'exit');
      keeper.stdin?.end();
      await exit;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A file in a folder that takes all the room of its disk, and gives it back. */
export function fillerIn(folder: string): Pick<SmallDisk, 'fill' | 'free'> {
  const filler = join(folder, 'filler');
  return {
    fill() {
      const { bavail, bsize } = statfsSync(folder);
      try {
        writeFileSync(filler, Buffer.alloc(bavail * bsize));
      } catch (error) {
        // The program took some of the room meanwhile: then it is full as well.
        if (systemCode(error) !== 'ENOSPC') throw error;
      }
    },
    free: () => rmSync(filler, { force: true }),
  };
}

async function mounted({ stdout }: ChildProcess): Promise<void> {
  if (stdout === null) throw new Error('the disk says nothing');
  for await (const line of createInterface({ input: stdout })) if (line === 'mounted') return;
  throw new Error('the disk could not be mounted');
}
