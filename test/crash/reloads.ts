import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually, query } from '../support/program.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { startSmtp } from '../support/smtp.ts';
import { judge } from './judge.ts';
import { startSwitched, type Switched } from './switched.ts';

// Reloads the configuration every second or so, with other settings, while targets go down and come back, and kills the program now
// and then. In the end each outage that it can have seen is an incident, and each incident was told, under one name.

const root = new URL('../../', import.meta.url).pathname;
/** The second of these is down after two failing rounds, and the third has one host under two names. */
const steadyNames = ['t0', 't1', 't2'] as const;
const [, slowName, movedName] = steadyNames;
/** Some configurations leave this one out. */
const removedName = 't3';
const settleMs = 180_000;
// One round of two seconds, or two, whatever a reload takes.
const seenWithinMs = new Map<string, number>(steadyNames.map((name) => [name, name === slowName ? 9_000 : 5_000]));

interface Period {
  readonly from: number;
  to: number;
}

interface TargetOutage extends Period {
  readonly target: string;
}

type Random = ReturnType<typeof seededRandom>;

export async function playReloads({ kills, seed }: { readonly kills: number; readonly seed: number }) {
  await using started = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'watchpost-crash-'));
  started.defer(() => rmSync(folder, { recursive: true, force: true }));
  const random = seededRandom(seed);
  const sink = started.use(await startSmtp());
  const targets = new Map<string, Switched>();
  for (const name of [...steadyNames, removedName]) targets.set(name, started.use(await startSwitched()));
  const database = join(folder, 'watchpost.db');
  const ask = (sql: string) => query(database, sql);
  const config = join(folder, 'watchpost.yaml');
  const write = (chance: Random | null) =>
    writeFileSync(config, JSON.stringify(configOf(database, sink.port, targets, chance)));

  const lives: Period[] = [];
  const children: ChildProcess[] = [];
  const running = () => children.at(-1);
  // Whatever ends this, no daemon outlives it.
  started.defer(async () => kill(running(), 'SIGKILL'));
  const launch = () => {
    const child = spawn(
      process.execPath,
      [join(root, 'src/watchpost.js'), 'run', '--config', config, '--log-level', 'fatal'],
      { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] },
    );
    children.push(child);
  };
  const seen = async () => {
    const since = Date.now();
    await eventually(settleMs, () => {
      if (running()?.exitCode !== null) throw new Error(`the program ended by itself with ${running()?.exitCode}`);
      if (ask(`SELECT 1 FROM history WHERE due_at > ${since} LIMIT 1`).length === 0)
        throw new Error('nothing was seen yet');
    });
    lives.push({ from: Date.now(), to: Number.POSITIVE_INFINITY });
  };

  write(null);
  launch();
  await eventually(settleMs, () => void ask('SELECT 1 FROM history LIMIT 1'));
  await seen();
  const weather = new AbortController();
  const outages: TargetOutage[] = [];
  const changing = change(targets, outages, random, weather.signal);
  const counts = { reloads: 0, kills: 0 };
  while (counts.kills < kills) {
    for (let times = Math.floor(random.next() * 8); times >= 0; times -= 1) {
      await sleep(200 + random.next() * 2_000);
      write(random);
      running()?.kill('SIGHUP');
      counts.reloads += 1;
    }
    const life = lives.at(-1);
    if (life !== undefined) life.to = Date.now();
    await kill(running(), 'SIGKILL');
    counts.kills += 1;
    write(random);
    launch();
    await seen();
  }
  weather.abort();
  await changing;
  for (const target of targets.values()) await target.turn(true);
  for (const outage of outages) outage.to = Math.min(outage.to, Date.now());
  write(null);
  running()?.kill('SIGHUP');
  await eventually(settleMs, () => {
    const [open] = ask(
      `SELECT count(*) AS count FROM incidents JOIN targets ON targets.id = target_id
       WHERE ended_at IS NULL AND targets.name NOT LIKE 'own %'`,
    );
    const [pending] = ask(`SELECT count(*) AS count FROM deliveries WHERE state = 'pending' AND kind != 'reminder'`);
    if (open?.['count'] !== 0 || pending?.['count'] !== 0) throw new Error('not at rest');
  });
  await kill(running(), 'SIGTERM');
  const judged = judge({ query: ask, received: sink.received, isHistoryJudged: false, isRefused: false });
  return {
    counts: { ...counts, ...judged.counts },
    faults: [...judged.faults, ...unreported(ask, outages, lives)],
  };
}

/** Outages of targets that were always watched, and that the program was there to see, without an incident. */
function unreported(
  ask: (sql: string) => readonly Record<string, unknown>[],
  outages: readonly TargetOutage[],
  lives: readonly Period[],
): readonly string[] {
  const seenMs = ({ from, to }: Period) =>
    Math.max(0, ...lives.map((life) => Math.min(to, life.to) - Math.max(from, life.from)));
  return outages
    .filter((outage) => seenMs(outage) >= (seenWithinMs.get(outage.target) ?? Infinity))
    .flatMap(({ target, from, to }) => {
      const covering = ask(
        `SELECT 1 FROM incidents JOIN targets ON targets.id = target_id WHERE targets.name = '${target}'
         AND started_at <= ${to} AND (ended_at IS NULL OR ended_at >= ${from})`,
      );
      const [began, ended] = [from, to].map((at) => new Date(at).toISOString());
      return covering.length > 0 ? [] : [`${target} was down from ${began} to ${ended}, and there is no incident`];
    });
}

async function change(
  targets: ReadonlyMap<string, Switched>,
  outages: TargetOutage[],
  random: Random,
  signal: AbortSignal,
): Promise<void> {
  const names = [...targets.keys()];
  while (!signal.aborted) {
    await sleep(1_000 + random.next() * 3_000);
    const name = names[Math.floor(random.next() * names.length)] ?? '';
    const target = targets.get(name);
    await target?.turn(!target.isOn);
    if (target?.isOn === false) outages.push({ target: name, from: Date.now(), to: Number.POSITIVE_INFINITY });
    else {
      const open = outages.findLast((one) => one.target === name);
      if (open !== undefined) open.to = Date.now();
    }
  }
}

async function kill(child: ChildProcess | undefined, signal: NodeJS.Signals): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill(signal);
  await exit;
}

/** What a user may change without giving up a target; `random` draws it, and without it there is nothing special. */
function configOf(database: string, smtpPort: number, targets: ReadonlyMap<string, Switched>, random: Random | null) {
  const isDrawn = (chance: number) => random !== null && random.next() < chance;
  const recipient = (to: string) => ({
    email: { to: [to] },
    group_wait: isDrawn(0.5) ? '200ms' : '500ms',
    group_interval: '1s',
    storm: { messages: 10_000, per: '1m' },
  });
  const rule = { failing: 1, confirm: false, ...(isDrawn(0.3) ? { severity: 'critical' } : {}) };
  const isLeftOut = isDrawn(0.3);
  const isRenamed = isDrawn(0.3);
  return {
    data: database,
    http: { listen: '127.0.0.1:0' },
    smtp: { url: `smtp://127.0.0.1:${smtpPort}`, from: 'Watchpost <alerts@example.com>' },
    defaults: { every: isDrawn(0.5) ? '2s' : '1s', rules: ['down'] },
    rules: { down: { ...rule, rounds: 1, recover: 1 }, slowly: { ...rule, rounds: 2, recover: 1 } },
    notify: {
      [isRenamed ? 'crew' : 'ops']: recipient('ops@example.com'),
      // In the end it hears of the end of what it was told of.
      ...(random === null || isDrawn(0.3) ? { dev: recipient('dev@example.com') } : {}),
    },
    targets: {
      ...Object.fromEntries(
        [...targets]
          .filter(([name]) => name !== removedName || !isLeftOut)
          .map(([name, { port }]) => [
            name,
            {
              check: 'tcp',
              host: `${name === movedName && isDrawn(0.3) ? 'localhost' : '127.0.0.1'}:${port}`,
              ...(name === slowName ? { rules: ['slowly'] } : {}),
              timeout: isDrawn(0.3) ? '700ms' : '500ms',
              ...(isDrawn(0.3) ? { labels: { team: 'a' } } : {}),
            },
          ]),
      ),
      ...(isDrawn(0.3) ? { extra: { check: 'tcp', host: `127.0.0.1:${smtpPort}` } } : {}),
    },
  };
}
