import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import Database from 'better-sqlite3';
import { expect, test, type TestContext } from 'vitest';
import { systemClock } from '#kernel/clock.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { openAt, start, tempFolder } from '../../support/store.ts';
import { mortal } from '../../support/children.ts';

const child = new URL('../../support/store-child.ts', import.meta.url).pathname;

interface Session {
  readonly acknowledged: readonly number[];
}

/** Lets a child record rounds, kills it with SIGKILL after `ms` of work, and tells which rounds it had called stored. */
async function killAtWork(folder: string, ms: number): Promise<Session> {
  const process_ = mortal(spawn(process.execPath, [child, 'work', folder], { stdio: ['ignore', 'pipe', 'inherit'] }));
  const acknowledged: number[] = [];
  const lines = createInterface(process_.stdout);
  lines.on('line', (line) => {
    if (line !== 'working') return void acknowledged.push(Number(line));
    setTimeout(() => process_.kill('SIGKILL'), ms);
  });
  const [[, signal]] = await Promise.all([once(process_, 'exit'), once(lines, 'close')]);
  expect(signal).toBe('SIGKILL');
  return { acknowledged };
}

interface RecordedRound {
  readonly dueAt: number;
  readonly kind: string;
}

/** Lets a child record the rounds of its scene, kills it with SIGKILL while some of them wait, and gives what it recorded. */
async function killHolding(folder: string): Promise<readonly RecordedRound[]> {
  const process_ = mortal(spawn(process.execPath, [child, 'hold', folder], { stdio: ['ignore', 'pipe', 'inherit'] }));
  const recorded: RecordedRound[] = [];
  const lines = createInterface(process_.stdout);
  lines.on('line', (line) => {
    if (line === 'done') return void process_.kill('SIGKILL');
    const [dueAt = '', kind = ''] = line.split(' ');
    recorded.push({ dueAt: Number(dueAt), kind });
  });
  const [[, signal]] = await Promise.all([once(process_, 'exit'), once(lines, 'close')]);
  expect(signal).toBe('SIGKILL');
  return recorded;
}

test('kill -9 in the middle of work loses no stored round, tears none, and lets the next process in', async () => {
  const random = seededRandom(7);
  let rounds = 0;
  for (let kill = 0; kill < 8; kill += 1) {
    using folder = tempFolder();
    const { acknowledged } = await killAtWork(folder.path, Math.floor(random.next() * 400));
    const path = join(folder.path, 'watchpost.db');
    await using store = openAt(path, systemClock);

    const votes = new Map<number, number>();
    for (const { dueAt } of store.recentResults('shop', 0)) votes.set(dueAt, (votes.get(dueAt) ?? 0) + 1);
    expect([...votes.values()].filter((count) => count !== 3)).toEqual([]);
    expect(acknowledged.filter((dueAt) => !votes.has(dueAt))).toEqual([]);

    const reader = new Database(path, { readonly: true });
    expect(reader.pragma('integrity_check', { simple: true })).toBe('ok');
    expect(reader.pragma('foreign_key_check')).toEqual([]);
    const opened = reader.prepare('SELECT opened_at FROM incidents ORDER BY opened_at').pluck().all();
    expect(opened).toEqual([...votes.keys()].filter((dueAt) => (dueAt - start) % 5 === 0));
    expect(reader.prepare('SELECT count(*) FROM deliveries').pluck().get()).toBe(opened.length);
    reader.close();
    rounds += acknowledged.length;
  }
  expect(rounds).toBeGreaterThan(0);
});

test.for([15, 20, 45, 79, 100])(
  'kill -9 after %i rounds in as many tenths of a second loses healthy results of the last three seconds, and nothing else',
  async (rounds) => {
    using folder = tempFolder();
    writeFileSync(join(folder.path, 'scene.json'), JSON.stringify({ rounds }));
    const recorded = await killHolding(folder.path);
    expect(recorded).toHaveLength(rounds);
    await using store = openAt(join(folder.path, 'watchpost.db'), systemClock);
    const kept = new Set(store.recentResults('shop', 0).map(({ dueAt }) => dueAt));
    const lost = recorded.filter(({ dueAt }) => !kept.has(dueAt));
    const killedAt = start + rounds * 100;
    expect(lost.filter(({ kind, dueAt }) => kind !== 'healthy' && dueAt <= killedAt - 1_000)).toEqual([]);
    expect(lost.filter(({ kind }) => kind === 'eventful')).toEqual([]);
    expect(lost.filter(({ dueAt }) => dueAt <= killedAt - 3_000)).toEqual([]);
    // What is lost came last.
    expect(recorded.slice(recorded.length - lost.length)).toEqual(lost);
    const incidents = new Set(recorded.filter(({ dueAt }) => (dueAt - start) % 5_000 === 0).map(({ dueAt }) => dueAt));
    expect(new Set(store.incidentsBetween(0, killedAt).map(({ openedAt }) => openedAt))).toEqual(incidents);
    expect(store.dueDeliveries(killedAt, 10)).toHaveLength(incidents.size);
  },
);

test('a second process is refused while the first one runs', async () => {
  using folder = tempFolder();
  await using _store = openAt(join(folder.path, 'watchpost.db'), systemClock);
  const { stdout } = spawnSync(process.execPath, [child, 'open', folder.path], { encoding: 'utf8' });
  expect(JSON.parse(stdout)).toEqual({
    code: 'store_unwritable',
    message: expect.stringContaining(`in use by another running watchpost (process ${process.pid})`),
  });
});

test('an incident survives a full disk and is stored as soon as there is room', (context) => {
  needsMounts(context);
  using folder = tempFolder();
  const result = onItsOwnDisk(folder.path, 'mount -t tmpfs -o size=512k tmpfs "$0"', 'fillDisk');
  expect(result).toMatchObject({
    full: { lastError: 'database or disk is full', queued: 1, dropped: 0 },
    stillFull: { queued: 1 },
    recorded: 'stored',
    after: { lastError: null, queued: 0, dropped: 0 },
    due: 50,
  });
});

test('a read-only disk is refused with the way out', (context) => {
  needsMounts(context);
  using folder = tempFolder();
  const mount = 'mount -t tmpfs tmpfs "$0" && mount -o remount,ro "$0"';
  expect(onItsOwnDisk(folder.path, mount, 'open')).toEqual({
    code: 'store_unwritable',
    message: expect.stringMatching(/watchpost\.db: cannot be written .* chown -R/),
  });
});

test('a database on a disk that became read-only is refused, not half opened', (context) => {
  needsMounts(context);
  using folder = tempFolder();
  const mount = `mount -t tmpfs tmpfs "$0" && "$1" "$2" open "$0" >&2 && mount -o remount,ro "$0"`;
  expect(onItsOwnDisk(folder.path, mount, 'open')).toMatchObject({ code: 'store_unwritable' });
});

test('a database file that may only be read is refused, although its folder can be written', (context) => {
  needsMounts(context);
  using folder = tempFolder();
  const file = '"$0/watchpost.db"';
  const mount = `"$1" "$2" open "$0" >&2 && mount --bind ${file} ${file} && mount -o remount,ro,bind ${file}`;
  expect(onItsOwnDisk(folder.path, mount, 'open')).toMatchObject({ code: 'store_unwritable' });
});

const isRoot = process.getuid?.() === 0;
const namespace = isRoot ? ['--mount'] : ['--map-root-user', '--mount'];

function needsMounts(context: TestContext): void {
  const attempt = 'mount -t tmpfs tmpfs /mnt && mount -o remount,ro /mnt';
  if (spawnSync('unshare', [...namespace, 'sh', '-c', attempt]).status === 0) return;
  if (process.env['CI'] !== undefined) throw new Error('CI must be able to mount in a namespace (unshare --mount)');
  context.skip('needs the right to mount and remount a disk of its own (unshare --mount as root)');
}

/** Runs a scene with `folder` as a disk that only it can see; its last line of output is its report. */
function onItsOwnDisk(folder: string, mount: string, scene: string): unknown {
  const script = `${mount} && exec "$1" "$2" "$3" "$0"`;
  const words = [...namespace, 'sh', '-c', script, folder, process.execPath, child, scene];
  const { stdout, stderr } = spawnSync('unshare', words, { encoding: 'utf8', timeout: 20_000 });
  const report = stdout.trim().split('\n').at(-1) ?? '';
  if (report === '') throw new Error(`no report: ${stderr}`);
  return JSON.parse(report);
}
