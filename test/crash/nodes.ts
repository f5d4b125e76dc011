import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createNextDue } from '#schedule/schedule.ts';
import { natsObstacle, startNats } from '../support/nats-server.ts';
import { eventually, query } from '../support/program.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { startSmtp } from '../support/smtp.ts';
import { judge } from './judge.ts';
import { startSwitched } from './switched.ts';

// Interrupts the hub, nats-server and two nodes at random moments while targets go down and come back. In the end every round of a
// node that lived then has its vote, every outage that nodes saw is an incident, and every incident was told, under one name.

const root = new URL('../../', import.meta.url).pathname;
const names = ['de1', 'us1'];
const targetNames = ['t0', 't1', 't2'];
const everyMs = 2_000;
const settleMs = 180_000;
// What a node has seen and not written down yet goes with it.
const unwrittenMs = 3_000;

export { natsObstacle as nodesObstacle };

type Destination = 'hub' | 'nats' | 'node' | `stopped ${'hub' | 'nats' | 'node'}`;

interface NodesDayPlan {
  /** What is killed, or stopped as SIGSTOP does, and goes on after a pause. */
  readonly destinations: readonly Destination[];
  /** How long everything runs between two interruptions, and how long one lasts, at most. */
  readonly longestLifeMs: number;
  readonly longestPauseMs: number;
}

/** Days on which nodes on other machines watch. */
export const nodesDays = {
  nodes: { destinations: ['hub', 'nats', 'node', 'node'], longestLifeMs: 8_000, longestPauseMs: 4_000 },
  stopped: {
    destinations: ['stopped hub', 'stopped hub', 'stopped hub', 'hub'],
    longestLifeMs: 12_000,
    longestPauseMs: 25_000,
  },
  nats: { destinations: ['nats', 'nats', 'nats', 'hub'], longestLifeMs: 12_000, longestPauseMs: 25_000 },
  frozen: {
    destinations: ['stopped nats', 'stopped nats', 'stopped node', 'stopped hub', 'hub'],
    longestLifeMs: 12_000,
    longestPauseMs: 25_000,
  },
} as const satisfies Readonly<Record<string, NodesDayPlan>>;
export type NodesDay = keyof typeof nodesDays;

interface Life {
  readonly node: string;
  readonly from: number;
  to: number;
}

interface NodesOptions {
  readonly kills: number;
  readonly seed: number;
  readonly day: NodesDay;
}

export async function playNodes({ kills, seed, day }: NodesOptions) {
  const { destinations, longestLifeMs, longestPauseMs }: NodesDayPlan = nodesDays[day];
  await using started = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'watchpost-crash-'));
  started.defer(() => rmSync(folder, { recursive: true, force: true }));
  const random = seededRandom(seed);
  const nats = started.use(await startNats({ nodes: names }));
  const sink = started.use(await startSmtp());
  const targets = await Promise.all(targetNames.map(async () => started.use(await startSwitched())));
  const database = join(folder, 'watchpost.db');
  const ask = (sql: string) => query(database, sql);
  mkdirSync(join(folder, 'nodes'));
  writeFileSync(join(folder, 'hub.nk'), nats.hub.seed.reveal(), { mode: 0o600 });
  const enrolled = [...nats.nodes].map(([name, { key }]) => [name, { key, enrolled_at: '2026-01-01T00:00:00Z' }]);
  writeFileSync(join(folder, 'nodes', 'nodes.json'), JSON.stringify({ nodes: Object.fromEntries(enrolled) }));
  for (const name of names)
    writeFileSync(join(folder, `${name}.nk`), nats.account(name).seed.reveal(), { mode: 0o600 });
  const config = join(folder, 'watchpost.yaml');
  writeFileSync(
    config,
    configOf(
      database,
      sink.port,
      nats.url,
      targets.map(({ port }) => port),
    ),
  );

  const lives: Life[] = [];
  const running = new Map<string, ChildProcess>();
  started.defer(async () => {
    for (const child of running.values()) await kill(child, 'SIGKILL');
  });
  const beginLife = (node: string) => lives.push({ node, from: Date.now(), to: Number.POSITIVE_INFINITY });
  const endLife = (name: string) => {
    const life = lives.findLast(({ node }) => node === name);
    if (life !== undefined) life.to = Math.min(life.to, Date.now());
  };
  const launch = (name: string) => {
    const node = [
      'node',
      '--name',
      name,
      '--servers',
      nats.url,
      '--seed-file',
      join(folder, `${name}.nk`),
      '--allow-private',
    ];
    const words = name === 'hub' ? ['run', '--config', config] : [...node, '--spool-file', join(folder, `${name}.db`)];
    const child = spawn(process.execPath, [join(root, 'src/watchpost.js'), ...words, '--log-level', 'fatal'], {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    running.set(name, child);
    if (name !== 'hub') beginLife(name);
  };
  const end = async (name: string) => {
    endLife(name);
    const child = running.get(name);
    if (child !== undefined) await kill(child, 'SIGKILL');
  };

  for (const name of ['hub', ...names]) launch(name);
  const known = () => ask("SELECT node FROM history WHERE status != 'unknown' GROUP BY node").length;
  await eventually(settleMs, () => {
    if (known() < names.length) throw new Error('the nodes saw nothing yet');
  });
  const weather = new AbortController();
  const outages: Outage[] = [];
  const switching = turn(targets, outages, random, weather.signal);
  const counts = { hub: 0, 'stopped hub': 0, nats: 0, 'stopped nats': 0, node: 0, 'stopped node': 0 };
  const signal = (what: string, name: string, sent: NodeJS.Signals) =>
    what === 'nats' ? nats.signal(sent) : running.get(name)?.kill(sent);
  for (let killed = 0; killed < kills; killed += 1) {
    await sleep(random.next() * longestLifeMs);
    const destination = destinations[Math.floor(random.next() * destinations.length)] ?? 'hub';
    const [what, isStopped] = [destination.replace('stopped ', ''), destination.startsWith('stopped')];
    const name = what === 'node' ? (names[Math.floor(random.next() * names.length)] ?? 'de1') : 'hub';
    if (isStopped) {
      signal(what, name, 'SIGSTOP');
      endLife(name);
    } else if (what === 'nats') await nats.stop();
    else await end(name);
    await sleep(random.next() * longestPauseMs);
    if (isStopped) {
      signal(what, name, 'SIGCONT');
      if (what === 'node') beginLife(name);
    } else if (what === 'nats') await nats.start();
    else launch(name);
    counts[destination] += 1;
  }
  weather.abort();
  const switches = await switching;
  for (const [index, target] of targets.entries()) {
    await target.turn(true);
    endOutage(outages, targetNames[index] ?? '');
  }
  const restAt = Date.now();
  const comeToRest = async () =>
    eventually(settleMs, () => {
      const [open] = ask(
        `SELECT count(*) AS count FROM incidents JOIN targets ON targets.id = target_id
       WHERE ended_at IS NULL AND targets.name NOT LIKE 'own %'`,
      );
      const [pending] = ask(`SELECT count(*) AS count FROM deliveries WHERE state = 'pending' AND kind != 'reminder'`);
      if (open?.['count'] !== 0 || pending?.['count'] !== 0) throw new Error('not at rest');
    });
  await comeToRest();
  // What waits at a node is handed in again after a minute and a half without a receipt.
  const holes = () => holesIn(ask, lives, restAt);
  await eventually(settleMs, () => {
    if (holes().length > 0) throw new Error('votes are still on their way');
  }).catch(() => {});
  // What they brought is told like the rest.
  await comeToRest();
  for (const name of names) await end(name);
  const hub = running.get('hub');
  if (hub !== undefined) await kill(hub, 'SIGTERM');
  const judged = judge({ query: ask, received: sink.received, isHistoryJudged: false, isRefused: false });
  return {
    counts: { ...counts, switches, ...judged.counts },
    faults: [...judged.faults, ...holes(), ...untold(ask), ...(day === 'nodes' ? [] : unreported(ask, outages))],
  };
}

/** Rounds that a living node must have seen, and that have no vote of it. */
function holesIn(ask: (sql: string) => readonly Record<string, unknown>[], lives: readonly Life[], until: number) {
  const seen = new Set(
    ask(`SELECT target || ' ' || node || ' ' || due_at AS name FROM history WHERE status != 'unknown'`).map(
      ({ name }) => name,
    ),
  );
  const first = new Map(lives.map((life) => [life, firstVote(ask, life)]));
  return lives.flatMap((life) => {
    const from = first.get(life) ?? null;
    if (from === null) return [];
    return targetNames.flatMap((target) => {
      const next = createNextDue({ kind: 'every', everyMs }, target);
      const missing: string[] = [];
      const end = Math.min(life.to - unwrittenMs, until);
      for (let due = next(from) ?? end; due < end; due = next(due) ?? end) {
        if (!seen.has(`${target} ${life.node} ${due}`))
          missing.push(
            `${target}: nothing of ${life.node} at ${new Date(due).toISOString()}; ${storedAbout(ask, target, due)}`,
          );
      }
      return missing;
    });
  });
}

// What is there in its place, for whoever looks for the cause.
function storedAbout(ask: (sql: string) => readonly Record<string, unknown>[], target: string, due: number): string {
  const rows = ask(
    `SELECT node, status, due_at - ${due} AS after, code, message, late_at AS late FROM history
     WHERE target = '${target}' AND due_at >= ${due} AND due_at < ${due} + 100 ORDER BY due_at`,
  );
  return rows.length === 0 ? 'nobody saw anything then' : `stored is ${JSON.stringify(rows)}`;
}

// From its first vote on it watches everything.
function firstVote(ask: (sql: string) => readonly Record<string, unknown>[], { node, from, to }: Life): number | null {
  const until = Number.isFinite(to) ? to : Date.now();
  const [row] = ask(
    `SELECT min(due_at) AS first FROM history WHERE node = '${node}' AND status != 'unknown' AND due_at > ${from} AND due_at < ${until}`,
  );
  return typeof row?.['first'] === 'number' ? row['first'] + everyMs : null;
}

/** Periods of outages that no incident covers. */
function untold(ask: (sql: string) => readonly Record<string, unknown>[]): readonly string[] {
  return ask(
    `SELECT targets.name AS target, from_at AS at FROM verdict_periods JOIN targets ON targets.id = target_id
     WHERE status = 1 AND NOT EXISTS (SELECT 1 FROM incidents WHERE incidents.target_id = verdict_periods.target_id
       AND started_at <= verdict_periods.from_at AND (ended_at IS NULL OR ended_at >= verdict_periods.from_at))`,
  ).map(
    ({ target, at }) => `${String(target)} was down at ${new Date(Number(at)).toISOString()}, and there is no incident`,
  );
}

/** When a target refused connections; `to` is infinite while it does. */
interface Outage {
  readonly target: string;
  readonly from: number;
  to: number;
}

function endOutage(outages: readonly Outage[], target: string): void {
  const open = outages.findLast((one) => one.target === target);
  if (open !== undefined) open.to = Math.min(open.to, Date.now());
}

/** Outages that every node saw for sure, as none of them was interrupted, and that no incident covers. */
function unreported(ask: (sql: string) => readonly Record<string, unknown>[], outages: readonly Outage[]) {
  return outages
    .filter(({ from, to }) => to - from > 2 * everyMs)
    .flatMap(({ target, from, to }) => {
      const middle = Math.round((from + to) / 2);
      const covering = ask(
        `SELECT 1 FROM incidents JOIN targets ON targets.id = target_id WHERE targets.name = '${target}'
         AND started_at <= ${middle + everyMs} AND (ended_at IS NULL OR ended_at >= ${middle - everyMs})`,
      );
      const [began, ended] = [from, to].map((at) => new Date(at).toISOString());
      return covering.length > 0 ? [] : [`${target} was down from ${began} to ${ended}, and there is no incident`];
    });
}

async function turn(
  targets: readonly { readonly isOn: boolean; turn(on: boolean): Promise<void> }[],
  outages: Outage[],
  random: ReturnType<typeof seededRandom>,
  signal: AbortSignal,
): Promise<number> {
  let switches = 0;
  while (!signal.aborted) {
    await sleep(1_000 + random.next() * 4_000);
    const index = Math.floor(random.next() * targets.length);
    const target = targets[index];
    const name = targetNames[index] ?? '';
    await target?.turn(!target.isOn);
    if (target?.isOn === true) endOutage(outages, name);
    else outages.push({ target: name, from: Date.now(), to: Number.POSITIVE_INFINITY });
    switches += 1;
  }
  return switches;
}

async function kill(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill(signal);
  await exit;
}

function configOf(database: string, smtpPort: number, natsUrl: string, ports: readonly number[]): string {
  return JSON.stringify({
    data: database,
    http: { listen: '127.0.0.1:0' },
    smtp: { url: `smtp://127.0.0.1:${smtpPort}`, from: 'Watchpost <alerts@example.com>' },
    nats: { servers: [natsUrl] },
    nodes: {},
    defaults: { every: `${everyMs}ms`, rules: ['down'] },
    rules: { down: { failing: 1, rounds: 1, recover: 1, confirm: false } },
    notify: {
      ops: {
        email: { to: ['ops@example.com'] },
        group_wait: '500ms',
        group_interval: '1s',
        storm: { messages: 10_000, per: '1m' },
      },
    },
    targets: Object.fromEntries(
      ports.map((port, index) => [
        targetNames[index] ?? '',
        { check: 'tcp', host: `127.0.0.1:${port}`, timeout: '500ms' },
      ]),
    ),
  });
}
