import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually, query } from '../support/program.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { type ReceivedMail, type SmtpSink, startSmtp } from '../support/smtp.ts';
import { startSwitched, type Switched } from './switched.ts';

const root = new URL('../../', import.meta.url).pathname;
const targetCount = 4;
const longestLifeMs = 3_500;
const settleMs = 60_000;

export interface PlayOptions {
  readonly kills: number;
  readonly seed: number;
  readonly report: (line: string) => void;
}

export interface Played extends AsyncDisposable {
  readonly database: string;
  readonly received: readonly ReceivedMail[];
  readonly counts: Readonly<Record<'killed' | 'switches' | 'mail server outages', number>>;
}

/** Lives through the kills, then lets the program come to rest, and gives what is left. */
export async function play({ kills, seed, report }: PlayOptions): Promise<Played> {
  await using started = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'watchpost-crash-'));
  started.defer(() => rmSync(folder, { recursive: true, force: true }));
  const random = seededRandom(seed);
  const counts = { killed: 0, switches: 0, 'mail server outages': 0 };
  const targets = await Promise.all(
    Array.from({ length: targetCount }, async () => started.use(await startSwitched())),
  );
  let running: ChildProcess | null = null;
  // Now and then it takes no mail and asks for patience; it takes one and is gone; or the program is, before it hears the answer.
  const sink: SmtpSink = started.use(
    await startSmtp({
      judge() {
        const fate = random.next();
        if (fate < 0.1) return Object.assign(new Error('greylisted'), { responseCode: 451 });
        if (fate < 0.2) setImmediate(() => void sink.stop());
        if (fate > 0.75) running?.kill('SIGKILL');
        return null;
      },
    }),
  );
  const database = join(folder, 'watchpost.db');
  const config = join(folder, 'watchpost.yaml');
  writeFileSync(config, configOf(database, sink.port, targets));
  const weather = new AbortController();
  const changing = changeWeather(targets, sink, random, counts, weather.signal);

  while (counts.killed < kills) {
    const child = launch(config);
    running = child;
    await Promise.race([sleep(random.next() * longestLifeMs), once(child, 'exit')]);
    if (child.exitCode !== null) throw new Error(`the program ended by itself with ${child.exitCode}`);
    await kill(child, 'SIGKILL');
    counts.killed += 1;
    if (counts.killed % 10 === 0) report(`${counts.killed} kills, ${sink.received.length} mails`);
  }
  running = null;
  weather.abort();
  await changing;
  for (const target of targets) await target.turn(true);
  await sink.stop();
  await sink.start();
  await comeToRest(config, database, sink);
  const { received } = sink;
  const rest = started.move();
  return { database, received, counts, [Symbol.asyncDispose]: async () => rest.disposeAsync() };
}

async function comeToRest(config: string, database: string, sink: SmtpSink): Promise<void> {
  const child = launch(config);
  await eventually(settleMs, async () => {
    if (child.exitCode !== null) throw new Error(`the program ended by itself with ${child.exitCode}`);
    // It may have gone away once more with its last mail.
    await sink.start();
    const [open] = query(database, 'SELECT count(*) AS count FROM incidents WHERE ended_at IS NULL');
    const [pending] = query(
      database,
      `SELECT count(*) AS count FROM deliveries WHERE state = 'pending' AND kind != 'reminder'`,
    );
    if (open?.['count'] !== 0 || pending?.['count'] !== 0) {
      throw new Error(`not at rest: ${String(open?.['count'])} open, ${String(pending?.['count'])} pending`);
    }
  });
  await kill(child, 'SIGTERM');
}

/** Targets go down and come back, and so does the mail server. */
async function changeWeather(
  targets: readonly Switched[],
  sink: SmtpSink,
  random: ReturnType<typeof seededRandom>,
  counts: { switches: number; 'mail server outages': number },
  signal: AbortSignal,
): Promise<void> {
  let isMailUp = true;
  while (!signal.aborted) {
    await sleep(150 + random.next() * 500);
    const target = targets[Math.floor(random.next() * targets.length)];
    if (target !== undefined) {
      await target.turn(!target.isOn);
      counts.switches += 1;
    }
    if (random.next() < 0.3) {
      isMailUp = !isMailUp;
      await (isMailUp ? sink.start() : sink.stop());
      if (!isMailUp) counts['mail server outages'] += 1;
    }
  }
}

function launch(config: string): ChildProcess {
  return spawn(process.execPath, ['src/watchpost.js', 'run', '--config', config, '--log-level', 'fatal'], {
    cwd: root,
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
