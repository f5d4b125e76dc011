import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually, query } from '../support/program.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { startSmtp } from '../support/smtp.ts';
import { closedPort } from '../support/tcp-servers.ts';
import { judge } from './judge.ts';

// Jobs that call, fail, or are missing for a while, as those of cron and curl do, while the program is killed. In the end each failed run and
// each job that was missing for long enough is an incident, no job that called in time is one, and each was told, under one name.

const root = new URL('../../', import.meta.url).pathname;
const jobs = ['j0', 'j1', 'j2', 'j3'];
const everyMs = 3_000;
const graceMs = 2_000;
const longestLifeMs = 20_000;
const longestPauseMs = 3_000;
const settleMs = 180_000;
// What a busy machine may add.
const slackMs = 1_500;

interface Period {
  readonly from: number;
  to: number;
}

/** From the call before to the first good one after it. */
interface Trouble extends Period {
  readonly job: string;
  readonly kind: 'failed' | 'missing';
}

type Random = ReturnType<typeof seededRandom>;

export async function playJobs({ kills, seed }: { readonly kills: number; readonly seed: number }) {
  await using started = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'watchpost-crash-'));
  started.defer(() => rmSync(folder, { recursive: true, force: true }));
  const random = seededRandom(seed);
  const sink = started.use(await startSmtp());
  const port = await closedPort();
  const database = join(folder, 'watchpost.db');
  const ask = (sql: string) => query(database, sql);
  const config = join(folder, 'watchpost.yaml');
  writeFileSync(config, JSON.stringify(configOf(database, port, sink.port)));

  const lives: Period[] = [];
  const children: ChildProcess[] = [];
  // Whatever ends this, no daemon outlives it.
  started.defer(async () => kill(children.at(-1), 'SIGKILL'));
  const launch = async () => {
    children.push(
      spawn(process.execPath, [join(root, 'src/watchpost.js'), 'run', '--config', config, '--log-level', 'fatal'], {
        cwd: root,
        stdio: ['ignore', 'inherit', 'inherit'],
      }),
    );
    await eventually(settleMs, async () => {
      if (children.at(-1)?.exitCode !== null) throw new Error('the program ended by itself');
      await fetch(`http://127.0.0.1:${port}/healthz`);
    });
    lives.push({ from: Date.now(), to: Number.POSITIVE_INFINITY });
  };

  await launch();
  const [weather, work] = [new AbortController(), new AbortController()];
  const troubles: Trouble[] = [];
  const working = jobs.map(async (job) =>
    live({ job, port, troubles, random, isCalm: () => weather.signal.aborted, isOver: () => work.signal.aborted }),
  );
  for (let killed = 0; killed < kills; killed += 1) {
    await sleep(random.next() * longestLifeMs);
    const life = lives.at(-1);
    if (life !== undefined) life.to = Date.now();
    await kill(children.at(-1), 'SIGKILL');
    await sleep(random.next() * longestPauseMs);
    await launch();
  }
  weather.abort();
  await eventually(settleMs, () => {
    const [open] = ask('SELECT count(*) AS count FROM incidents WHERE ended_at IS NULL');
    const [pending] = ask(`SELECT count(*) AS count FROM deliveries WHERE state = 'pending' AND kind != 'reminder'`);
    if (open?.['count'] !== 0 || pending?.['count'] !== 0) throw new Error('not at rest');
  });
  work.abort();
  const calls = (await Promise.all(working)).reduce((sum, count) => sum + count, 0);
  await kill(children.at(-1), 'SIGTERM');
  const judged = judge({ query: ask, received: sink.received, isHistoryJudged: false, isRefused: false });
  const of = (kind: Trouble['kind']) => troubles.filter((one) => one.kind === kind).length;
  return {
    counts: { kills, calls, failed: of('failed'), missing: of('missing'), ...judged.counts },
    faults: [...judged.faults, ...unreported(ask, troubles, lives), ...unfounded(ask, troubles)],
  };
}

interface Work {
  readonly job: string;
  readonly port: number;
  readonly troubles: Trouble[];
  readonly random: Random;
  /** Whether nothing goes wrong any more. */
  readonly isCalm: () => boolean;
  readonly isOver: () => boolean;
}

/** Runs again and again; resolves with how often it called. */
async function live({ job, port, troubles, random, isCalm, isOver }: Work): Promise<number> {
  let [calls, lastAt] = [0, Date.now()];
  while (!isOver()) {
    const fate = isCalm() ? 1 : random.next();
    if (fate < 0.1) {
      troubles.push({ job, kind: 'missing', from: lastAt, to: Number.POSITIVE_INFINITY });
      await sleep(8_000 + random.next() * 8_000);
    } else await sleep(everyMs * (0.7 + 0.2 * random.next()));
    const isFailed = fate >= 0.1 && fate < 0.2;
    const began = Date.now();
    await call(job, port, isFailed ? 'fail' : '0');
    lastAt = Date.now();
    calls += 1;
    if (isFailed) troubles.push({ job, kind: 'failed', from: began, to: Number.POSITIVE_INFINITY });
    else for (const own of troubles) if (own.job === job) own.to = Math.min(own.to, lastAt);
  }
  return calls;
}

/** Calls until it is answered, as `curl --retry` does. */
async function call(job: string, port: number, what: string): Promise<void> {
  await eventually(settleMs, async () => {
    const { status } = await fetch(`http://127.0.0.1:${port}/beat/${secretOf(job)}/${what}`, { method: 'POST' });
    if (status !== 200) throw new Error(`the call was answered with ${status}`);
  });
}

/** Troubles that the program was there to notice, without an incident. */
function unreported(
  ask: (sql: string) => readonly Record<string, unknown>[],
  troubles: readonly Trouble[],
  lives: readonly Period[],
): readonly string[] {
  // After a start each job has its time in full.
  const isNoticed = ({ kind, from, to }: Trouble) =>
    kind === 'failed' ||
    lives.some((life) => Math.max(from, life.from) + everyMs + graceMs + slackMs < Math.min(to, life.to));
  return troubles.filter(isNoticed).flatMap(({ job, kind, from, to }) => {
    const covering = ask(
      `SELECT 1 FROM incidents JOIN targets ON targets.id = target_id WHERE targets.name = '${job}'
       AND started_at <= ${Math.min(to, Date.now())} AND (ended_at IS NULL OR ended_at >= ${from})`,
    );
    const [began, ended] = [from, to].map((at) => new Date(at).toISOString());
    return covering.length > 0 ? [] : [`${job} was ${kind} from ${began} to ${ended}, and there is no incident`];
  });
}

/** Incidents of jobs that did nothing wrong. */
function unfounded(
  ask: (sql: string) => readonly Record<string, unknown>[],
  troubles: readonly Trouble[],
): readonly string[] {
  const incidents = ask(
    `SELECT incidents.id AS id, targets.name AS job, started_at AS at FROM incidents JOIN targets ON targets.id = target_id
     WHERE targets.name NOT LIKE 'own %'`,
  ) as unknown as readonly { readonly id: string; readonly job: string; readonly at: number }[];
  return incidents
    .filter(({ job, at }) => !troubles.some((one) => one.job === job && one.from <= at && at <= one.to + slackMs))
    .map(({ id }) => `${id}: the job called in time`);
}

const secretOf = (job: string) => `${job}-is-a-secret-of-a-job-in-a-test`;

async function kill(child: ChildProcess | undefined, signal: NodeJS.Signals): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill(signal);
  await exit;
}

function configOf(database: string, port: number, smtpPort: number) {
  const duration = (ms: number) => `${ms}ms`;
  return {
    data: database,
    http: { listen: `127.0.0.1:${port}` },
    smtp: { url: `smtp://127.0.0.1:${smtpPort}`, from: 'Watchpost <alerts@example.com>' },
    notify: {
      ops: {
        email: { to: ['ops@example.com'] },
        group_wait: '500ms',
        group_interval: '1s',
        storm: { messages: 10_000, per: '1m' },
      },
    },
    targets: Object.fromEntries(
      jobs.map((job) => [
        job,
        {
          check: 'heartbeat',
          every: duration(everyMs),
          grace: duration(graceMs),
          secret_hash: createHash('sha256').update(secretOf(job)).digest('hex'),
        },
      ]),
    ),
  };
}
