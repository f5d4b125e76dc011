import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { startNats } from '../../support/nats-server.ts';
import { cpuSeconds, memoryBytes } from '../tools/processes.ts';
import { limitCpu } from '../tools/cpu-limit.ts';
import { figure, printTable } from '../tools/table.ts';
import { watchResponses } from './responses.ts';
import { type Hub, incidentsOf, startHub, storedBetween, tellUnknown, tellWarnings } from './hub.ts';
import type { Sent } from './results-child.ts';

// What nodes see of what they watch, on its way into one hub: a real nats-server, the real program as the hub, which judges, stores
// and counts as ever, and many nodes in a process of their own, with the wheels and batches of real ones. Their checks take no time.

export interface ResultsLoad {
  readonly nodes: number;
  readonly perSecond: number;
  readonly seconds: number;
  /** Of a core, what the hub may use; null for all it needs. */
  readonly share: number | null;
}

const everySeconds = 10;
// Targets that go down while results are counted.
const outages = 5;
const lookForIncidentsMs = 250;
const settleMs = 5_000;
// Until it skips as much as it will go on to, and V8 has compiled most of what runs: that takes two minutes on a quarter of a core.
const fallBehindMs = 90_000;
const warmUpMs = 10_000;
const patienceMs = 180_000;
// What lags comes in within seconds, or is skipped.
const lookEveryMs = 5_000;
// A round with a vote that is missing waits for it longer than one look.
const enoughLooks = 3;
const longestLagMs = 90_000;
// Batches that a node has on the way.
const mostWaiting = 5;

/** What became of a load. */
export interface ResultsMeasured {
  readonly load: ResultsLoad;
  /** Stored and skipped results of each second; CPU of the hub and of the nodes for each that was stored, in microseconds. */
  readonly perSecond: Readonly<Record<'stored' | 'skipped', number>>;
  readonly cpuUs: Readonly<Record<'hub' | 'nodes', number>>;
  /** Results that are unknown, that by the fault of a node, and that came after their round. */
  readonly counts: Readonly<Record<'unknown' | 'blamed' | 'late', number>>;
  /** Of the hub, in bytes. */
  readonly memory: number;
  /** How long answers took, as `ResponseTimes` has it, and how long an outage took to be stored, in milliseconds. */
  readonly ms: Readonly<Record<'health' | 'bare' | 'metrics' | 'page' | 'outage', number>>;
}

export async function measureResults(loads: readonly ResultsLoad[]): Promise<readonly ResultsMeasured[]> {
  const all: ResultsMeasured[] = [];
  for (const load of loads) all.push(await measure(load));
  printTable(
    [
      'results',
      'stored per s',
      'skipped per s',
      'hub CPU us',
      'nodes CPU us',
      'unknown',
      'blamed',
      'late',
      'MB of the hub',
      '/healthz p99 ms',
      'bare p99 ms',
      '/metrics max ms',
      '/ max ms',
      'outage s',
    ],
    all.map(rowOf),
  );
  return all;
}

/** What a load is called. */
export const nameOf = ({ nodes, perSecond, share }: ResultsLoad) =>
  `${nodes} nodes, ${perSecond}/s${share === null ? '' : `, ${share} core`}`;

function rowOf({ load, perSecond, cpuUs, counts, memory, ms }: ResultsMeasured): string[] {
  return [
    nameOf(load),
    figure(perSecond.stored),
    figure(perSecond.skipped),
    figure(cpuUs.hub),
    figure(cpuUs.nodes),
    String(counts.unknown),
    String(counts.blamed),
    String(counts.late),
    (memory / 1e6).toFixed(0),
    ms.health.toFixed(0),
    ms.bare.toFixed(0),
    ms.metrics.toFixed(0),
    ms.page.toFixed(0),
    (ms.outage / 1_000).toFixed(1),
  ];
}

const hostOf = (index: number) => `192.0.2.${1 + (index % 250)}:${1_000 + index}`;

async function measure(load: ResultsLoad): Promise<ResultsMeasured> {
  const { nodes: count, perSecond, seconds, share } = load;
  const names = Array.from({ length: count }, (_, index) => `zz${index + 1}`);
  await using nats = await startNats({ nodes: names });
  // Every node votes on every target.
  const targets = Math.round((perSecond * everySeconds) / count);
  await using hub = await startHub(nats, {
    defaults: { every: `${everySeconds}s`, rules: ['down'] },
    rules: { down: { failing: 'majority', rounds: 2, recover: 2 } },
    targets: Object.fromEntries(
      Array.from({ length: targets }, (_, index) => [`target-${index}`, { check: 'tcp', host: hostOf(index) }]),
    ),
  });
  let limit: Disposable | null = null;
  const bare = fork(new URL('bare-child.ts', import.meta.url), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const child = fork(new URL('results-child.ts', import.meta.url), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  try {
    const [bareUrl] = (await once(bare, 'message')) as [string];
    const accounts = names.map((name) => ({ ...nats.account(name), seed: nats.account(name).seed.reveal() }));
    child.send(accounts);
    await once(child, 'message');
    await comeToRest(child, targets * count, count);
    const pid = hub.running.process.pid ?? 0;
    using responses = watchResponses(hub.running.url, bareUrl);
    if (share !== null) {
      limit = limitCpu([pid, ...(bare.pid === undefined ? [] : [bare.pid])], share);
    }
    // A Prometheus asks from the start on, too.
    await pause(share === null ? warmUpMs : fallBehindMs);

    const from = Math.ceil(Date.now() / 1_000) * 1_000;
    await pause(from - Date.now());
    const before = { hub: cpuSeconds(pid), nodes: cpuSeconds(child.pid ?? 0) };
    responses.restart();
    const outageMs = reportOutages(hub, child);
    await pause(seconds * 1_000);
    const { health, bare: bareMs, metrics, page } = responses.figures();
    responses[Symbol.dispose]();
    const after = { hub: cpuSeconds(pid), nodes: cpuSeconds(child.pid ?? 0) };
    const memory = memoryBytes(pid).now;
    await allStored(hub, from, from + seconds * 1_000);
    const { waiting } = await ask(child);
    if (waiting > mostWaiting * count) console.log(`  ${waiting} batches wait at the nodes in the end`);
    tellWarnings(hub);
    tellUnknown(hub, from, from + seconds * 1_000);
    const { stored, unknown, late, blamed } = storedBetween(hub, from, from + seconds * 1_000);
    const expected = Math.round((targets * count * seconds) / everySeconds);
    const cpuUs = (what: 'hub' | 'nodes') => ((after[what] - before[what]) * 1e6) / stored;
    return {
      load,
      perSecond: { stored: (stored - unknown) / seconds, skipped: (expected - stored + unknown) / seconds },
      cpuUs: { hub: cpuUs('hub'), nodes: cpuUs('nodes') },
      counts: { unknown, blamed, late },
      memory,
      ms: { health, bare: bareMs, metrics, page, outage: await outageMs },
    };
  } finally {
    for (const one of [child, bare]) {
      one.disconnect();
      await once(one, 'exit');
    }
    hub.running.process.kill('SIGKILL');
    if (hub.running.process.exitCode === null && hub.running.process.signalCode === null)
      await once(hub.running.process, 'exit');
    limit?.[Symbol.dispose]();
  }
}

// The longest time until the incident of a target that went down is stored.
async function reportOutages(hub: Hub, child: ChildProcess): Promise<number> {
  const begun = Date.now();
  child.send({ down: Array.from({ length: outages }, (_, index) => hostOf(index)) });
  while (incidentsOf(hub) < outages) {
    if (Date.now() - begun > patienceMs) return Number.NaN;
    await pause(lookForIncidentsMs);
  }
  return Date.now() - begun;
}

// A hub that has just started gathers for up to a minute what its nodes have kept. Then each target was seen, and little waits.
async function comeToRest(child: ChildProcess, results: number, nodes: number): Promise<void> {
  const end = Date.now() + patienceMs;
  for (;;) {
    await pause(settleMs);
    const sent = await ask(child);
    if (sent.results >= results && sent.waiting <= mostWaiting * nodes) return;
    if (Date.now() > end) return console.log(`  ${sent.waiting} batches wait at the nodes: the hub does not keep up`);
  }
}

// Until no more results of that time are stored than before: the others are skipped, or will be.
async function allStored(hub: Hub, from: number, to: number): Promise<void> {
  const end = Date.now() + longestLagMs;
  let before = -1;
  for (let same = 0; same < enoughLooks;) {
    await pause(lookEveryMs);
    const { stored } = storedBetween(hub, from, to);
    same = stored === before ? same + 1 : 0;
    if (Date.now() > end)
      return console.log(`  results of that time are stored still, ${longestLagMs / 1_000} s later`);
    before = stored;
  }
}

async function ask(child: ChildProcess): Promise<Sent> {
  child.send('how many?');
  const [sent] = (await once(child, 'message')) as [Sent];
  return sent;
}
