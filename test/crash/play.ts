import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually, query } from '../support/program.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { type ReceivedMail, type SmtpSink, startSmtp } from '../support/smtp.ts';
import { createSmallDisk, type SmallDisk } from '../support/small-disk.ts';
import { createMachineClock, type MachineClock } from '../support/machine-clock.ts';
import { findStandstill, setAhead } from './machine-clock.ts';
import { startSwitched, type Switched } from './switched.ts';
import { changeWeather } from './weather.ts';

const root = new URL('../../', import.meta.url).pathname;
const targetCount = 4;
const longestLifeMs = 3_500;
// A mail that is refused for the time being waits for up to a minute before it is tried again, and may be refused twice.
const settleMs = 180_000;
// One that was refused for good before and is put off then waits for a quarter of an hour.
const settleRefusedMs = 20 * 60_000;

export interface PlayOptions {
  readonly kills: number;
  readonly seed: number;
  readonly report: (line: string) => void;
  readonly day: Day;
}

/**
 * What happens besides kills and a mail server that comes and goes: the clock is set back over restarts, mails are refused for good,
 * the disk is full now and then (and then nobody is killed: on a full disk the program does not start), or the clock is hours or
 * months ahead, from a start on or while the program runs, and then right again.
 */
export const days = ['plain', 'clock', 'refusals', 'disk', 'ahead'] as const;
export type Day = (typeof days)[number];

export interface Played extends AsyncDisposable {
  readonly query: (sql: string) => readonly Record<string, unknown>[];
  readonly received: readonly ReceivedMail[];
  readonly counts: Readonly<
    Record<'killed' | 'switches' | 'mail server outages' | 'full disks' | 'clock jumps', number>
  >;
  /** What did not go on once the clock was right again, in words. */
  readonly faults: readonly string[];
}

/** Lives through the kills, then lets the program come to rest, and gives what is left. */
export async function play({ kills, seed, report, day }: PlayOptions): Promise<Played> {
  await using started = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'watchpost-crash-'));
  started.defer(() => rmSync(folder, { recursive: true, force: true }));
  const random = seededRandom(seed);
  const weather = new AbortController();
  const counts = { killed: 0, switches: 0, 'mail server outages': 0, 'full disks': 0, 'clock jumps': 0 };
  const targets = await Promise.all(
    Array.from({ length: targetCount }, async () => started.use(await startSwitched())),
  );
  let running: ChildProcess | null = null;
  const children: ChildProcess[] = [];
  // Whatever ends this, no daemon outlives it.
  started.defer(async () => {
    for (const child of children) await kill(child, 'SIGKILL');
  });
  // Now and then it takes no mail and asks for patience; it takes one and is gone; or the program is, before it hears the answer.
  const sink: SmtpSink = started.use(
    await startSmtp({
      judge() {
        const fate = random.next();
        if (fate < 0.1) return Object.assign(new Error('greylisted'), { responseCode: 451 });
        if (day === 'refusals' && !weather.signal.aborted && fate > 0.5 && fate < 0.75)
          return Object.assign(new Error('mailbox full'), { responseCode: 552 });
        if (fate < 0.2) setImmediate(() => void sink.stop());
        if (fate > 0.75 && day !== 'disk') running?.kill('SIGKILL');
        return null;
      },
    }),
  );
  const disk = day === 'disk' ? started.use(await createSmallDisk('4m')) : null;
  const database = join(disk?.folder ?? folder, 'watchpost.db');
  const ask = (sql: string) => disk?.query('watchpost.db', sql) ?? query(database, sql);
  const clock = day === 'clock' || day === 'ahead' ? createMachineClock(folder) : null;
  const launch = () => {
    const child = launchOn(config, clock, disk);
    children.push(child);
    return child;
  };
  const config = join(folder, 'watchpost.yaml');
  writeFileSync(config, configOf(database, sink.port, targets));
  const changing = changeWeather(targets, sink, random, counts, weather.signal);
  if (disk !== null) await liveOn(disk, { launch, ask, kills, random, counts });

  const toKill = disk === null ? kills : 0;
  while (counts.killed < toKill) {
    if (day === 'ahead' && clock !== null) counts['clock jumps'] += setAhead(clock, random, 'start');
    const child = launch();
    running = child;
    // Now and then it dies while it starts; mostly once it has seen something, which takes long on a busy machine.
    if (random.next() > 0.2) await seen(ask, child);
    if (day === 'ahead' && clock !== null) counts['clock jumps'] += setAhead(clock, random, 'run');
    await Promise.race([sleep(random.next() * longestLifeMs), once(child, 'exit')]);
    if (child.exitCode !== null) throw new Error(`the program ended by itself with ${child.exitCode}`);
    await kill(child, 'SIGKILL');
    counts.killed += 1;
    if (day === 'clock' && random.next() < 0.5) clock?.set(clock.aheadMs - Math.floor(random.next() * 600_000));
    if (counts.killed % 10 === 0) report(`${counts.killed} kills, ${sink.received.length} mails`);
  }
  running = null;
  weather.abort();
  await changing;
  for (const target of targets) await target.turn(true);
  await sink.stop();
  await sink.start();
  let faults: readonly string[] = [];
  if (day === 'ahead') clock?.set(0);
  const child = launch();
  if (day === 'ahead' && clock !== null) {
    await seen(ask, child);
    faults = await findStandstill({ clock, targets, query: ask });
  }
  await comeToRest(child, ask, sink, day === 'refusals' ? settleRefusedMs : settleMs);
  const { received } = sink;
  const rest = started.move();
  return { query: ask, received, counts, faults, [Symbol.asyncDispose]: async () => rest.disposeAsync() };
}

/** Resolves once the program has stored what it saw, or is dead. */
async function seen(ask: Played['query'], child: ChildProcess): Promise<void> {
  const count = () => Number(ask('SELECT count(*) AS count FROM results')[0]?.['count']);
  const before = countBefore(count);
  await eventually(settleMs, () => {
    if (child.exitCode === null && child.signalCode === null && count() <= before)
      throw new Error('nothing was seen yet');
  });
}

// Before its first start there is no database.
function countBefore(count: () => number): number {
  try {
    return count();
  } catch (error) {
    if (!/unable to open|no such table/.test(String(error))) throw error;
    return 0;
  }
}

interface LifeOnDisk {
  readonly launch: () => ChildProcess;
  readonly ask: Played['query'];
  readonly kills: number;
  readonly random: ReturnType<typeof seededRandom>;
  readonly counts: { 'full disks': number };
}

/** Fills the disk and makes room again while everything changes, in one life of the program. */
async function liveOn(disk: SmallDisk, { launch, ask, kills, random, counts }: LifeOnDisk): Promise<void> {
  const child = launch();
  await eventually(settleMs, () => {
    if (ask('SELECT 1 FROM results LIMIT 1').length === 0) throw new Error('nothing was seen yet');
  });
  for (let times = 0; times < Math.ceil(kills / 4); times += 1) {
    disk.fill();
    counts['full disks'] += 1;
    await sleep(random.next() * 4 * longestLifeMs);
    disk.free();
    await sleep(random.next() * 2 * longestLifeMs);
  }
  if (child.exitCode !== null) throw new Error(`the program ended by itself with ${child.exitCode}`);
  // What waited for room is written within seconds, and nobody is asked to lose it.
  await sleep(12_000);
  await kill(child, 'SIGKILL');
}

async function comeToRest(
  child: ChildProcess,
  ask: (sql: string) => readonly Record<string, unknown>[],
  sink: SmtpSink,
  withinMs: number,
): Promise<void> {
  await eventually(withinMs, async () => {
    if (child.exitCode !== null) throw new Error(`the program ended by itself with ${child.exitCode}`);
    // It may have gone away once more with its last mail.
    await sink.start();
    const [open] = ask(
      `SELECT count(*) AS count FROM incidents JOIN targets ON targets.id = target_id
       WHERE ended_at IS NULL AND targets.name NOT LIKE 'own %'`,
    );
    const [pending] = ask(`SELECT count(*) AS count FROM deliveries WHERE state = 'pending' AND kind != 'reminder'`);
    if (open?.['count'] !== 0 || pending?.['count'] !== 0) {
      throw new Error(`not at rest: ${String(open?.['count'])} open, ${String(pending?.['count'])} pending`);
    }
  });
  await kill(child, 'SIGTERM');
}

function launchOn(config: string, clock: MachineClock | null, disk: SmallDisk | null): ChildProcess {
  const words = [process.execPath, join(root, 'src/watchpost.js'), 'run', '--config', config];
  const [command = '', ...args] = disk?.on(words) ?? words;
  return spawn(command, [...args, '--log-level', 'fatal'], {
    cwd: root,
    env: { ...process.env, ...clock?.environment },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
}

async function kill(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill(signal);
  await exit;
}

function configOf(database: string, smtpPort: number, targets: readonly Switched[]): string {
  const lines = targets.map(
    ({ port }, index) => `  t${index}: { check: tcp, host: "127.0.0.1:${port}", timeout: 500ms }`,
  );
  return `data: ${database}
http: { listen: "127.0.0.1:0" }
smtp: { url: "smtp://127.0.0.1:${smtpPort}", from: Watchpost <alerts@example.com> }
defaults: { every: 1s }
rules: { down: { rounds: 1, recover: 1 } }
notify:
  ops: { email: { to: [ops@example.com] }, group_wait: 500ms, group_interval: 1s, storm: { messages: 10000, per: 1m } }
targets:
${lines.join('\n')}
`;
}
