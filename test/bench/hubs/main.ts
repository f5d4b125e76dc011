import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { decodeRecord } from '#hubs/record.ts';
import { logSubject } from '#hubs/session.ts';
import { connectionTimes, dial } from '#transport/nats/connection.ts';
import { type Fleet, type FleetHub, startFleet } from '../../support/fleet.ts';
import { eventually, query } from '../../support/program.ts';
import { cpuSeconds } from '../tools/processes.ts';
import { measureJoin } from './joins.ts';
import { measureStarts } from './starts.ts';

// What two hubs with one history cost beside a single one, how long nothing is judged while the leader is stopped or yields, how long
// a new hub takes to join, and what checks of callers cost on two hubs. `--only` selects cost, stops, yields, join or starts.

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: {
    targets: { type: 'string', default: '1000' },
    every: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '30' },
    stops: { type: 'string', default: '3' },
    results: { type: 'string', default: '2000000' },
    starts: { type: 'string', default: '20000' },
    only: { type: 'string' },
  },
});
const [targets, every, seconds, stops] = [values.targets, values.every, values.seconds, values.stops].map(Number) as [
  number,
  number,
  number,
  number,
];
const settleMs = 15_000;
// Compiling goes on for most of a minute, and would be the larger part of what a follower uses.
const warmMs = 60_000;

/** When a round was judged, by its record in the log. */
interface JudgedRound {
  readonly dueAt: number;
  readonly at: number;
  readonly epoch: number;
}

const open = async () => {
  const target = `, every: ${every}s, timeout: 900ms, rules: [quick] }`;
  const lines = (url: string) =>
    Array.from({ length: targets }, (_, index) => `  t${index}: { check: http, host: "${url}"${target}`);
  const fleet = await startFleet();
  return { fleet, edit: (config: string) => `${config}${lines(fleet.target.url).join('\n')}\n` };
};

const usedIn = async (hubs: readonly FleetHub[], ms: number) => {
  const used = () => hubs.map(({ running }) => cpuSeconds(running?.process.pid ?? 0));
  const before = used();
  await sleep(ms);
  return used().map((after, index) => after - (before[index] ?? 0));
};

const resultsIn = ({ program }: FleetHub) =>
  Number(query(program.database, 'SELECT count(*) AS n FROM results')[0]?.['n']);

async function measureCost(): Promise<void> {
  const { fleet, edit } = await open();
  await using _ = fleet;
  const [a, b] = [fleet.hub('a'), fleet.hub('b')];
  const alone = (config: string) => edit(config).replace(/^hubs: .*$/m, '');
  await a.start(alone);
  await sleep(warmMs);
  const before = resultsIn(a);
  const [single = 0] = await usedIn([a], seconds * 1_000);
  const checks = resultsIn(a) - before;
  await a.running?.end('SIGTERM');
  await a.start(edit);
  await fleet.leader();
  await b.start(edit);
  await sleep(warmMs);
  const [leader = 0, follower = 0] = await usedIn([a, b], seconds * 1_000);
  console.log(
    `${targets} targets every ${every} s, ${checks} results in ${seconds} s; CPU seconds and share of the single hub`,
  );
  console.log(`single    ${single.toFixed(2)}  1`);
  console.log(`leader    ${leader.toFixed(2)}  ${(leader / single).toFixed(2)}`);
  console.log(
    `follower  ${follower.toFixed(2)}  ${(follower / single).toFixed(2)}  ${(follower / leader).toFixed(2)} of the leader`,
  );
}

async function measureStops(by: HandOver): Promise<void> {
  const { fleet, edit } = await open();
  await using _ = fleet;
  for (const hub of fleet.hubs) {
    await hub.start(edit);
    await fleet.leader();
  }
  await fleet.agreed();
  const rounds: JudgedRound[] = [];
  const connection = await dial({ ...fleet.nats.account(), name: 'bench' }, connectionTimes);
  connection.subscribe(logSubject, {
    callback: (_error, message) => {
      const record = decodeRecord(message.data);
      if (record === null || record === 'newer') return;
      for (const write of record.writes as readonly {
        readonly kind: string;
        readonly round?: { readonly dueAt: number };
      }[])
        if (write.kind === 'round' && write.round !== undefined)
          rounds.push({ dueAt: write.round.dueAt, at: Date.now(), epoch: record.epoch });
    },
  });
  await sleep(settleMs);
  const startedAt = Date.now();
  for (let done = 0; done < stops; done += 1) await measureStop(by, { fleet, edit, rounds });
  await connection.close();
  const missing = missingIn(fleet.hubs[0] as FleetHub, startedAt);
  console.log(`rounds missing, or without an answer: ${missing.length}`);
  for (const { dueAt, status, failure } of missing.slice(0, 10))
    console.log(`  due ${new Date(dueAt).toISOString()}: ${status ?? 'not there'} ${failure ?? ''}`);
}

type HandOver = 'SIGTERM' | 'yield';

interface StopParts {
  readonly fleet: Fleet;
  readonly edit: (config: string) => string;
  readonly rounds: JudgedRound[];
}

async function measureStop(by: HandOver, { fleet, edit, rounds }: StopParts): Promise<void> {
  const leader = await fleet.leader();
  rounds.length = 0;
  await sleep(10_000);
  const before = rounds.splice(0);
  const usual = latenessOf(before);
  const stoppedAt = Date.now();
  const ended = by === 'yield' ? leader.yield() : leader.running?.end('SIGTERM');
  await sleep(20_000);
  await ended;
  await fleet.leader(leader.name);
  const ofNext = rounds.filter(({ epoch }) => epoch === Math.max(...rounds.map((one) => one.epoch)));
  const ofLeader = [...before, ...rounds].filter((one) => !ofNext.includes(one));
  const last = Math.max(...ofLeader.map(({ at }) => at)) - stoppedAt;
  const first = Math.min(...ofNext.map(({ at }) => at)) - stoppedAt;
  console.log(
    `${by} at ${new Date(stoppedAt).toISOString()}: first record of the next leader after ${first} ms, ${first - last} ms after the last one before; lateness of rounds: usually at most ${usual} ms, now ${latenessOf(rounds)} ms`,
  );
  if (by === 'SIGTERM') await leader.start(edit);
  await eventually(30_000, async () => fleet.agreed());
}

const latenessOf = (rounds: readonly JudgedRound[]) => Math.max(0, ...rounds.map(({ dueAt, at }) => at - dueAt));

/** A round that the history does not have although it has those around it, or has without an answer. */
interface MissingRound {
  readonly dueAt: number;
  readonly status: string | null;
  /** The message of its failure, or null. */
  readonly failure: string | null;
}

// Due times of a target lie one interval apart.
function missingIn({ program }: FleetHub, from: number): readonly MissingRound[] {
  const rows = query(
    program.database,
    `SELECT target, due_at AS due, max(status = 'up') AS up, min(status) AS status, max(message) AS failure FROM history
     WHERE target LIKE 't%' AND due_at >= ${from} GROUP BY target, due_at ORDER BY target, due_at`,
  );
  const missing: MissingRound[] = [];
  for (const [index, { target, due, up, status, failure }] of rows.entries()) {
    const next = rows[index + 1];
    if (Number(up) !== 1)
      missing.push({
        dueAt: Number(due),
        status: String(status),
        failure: typeof failure === 'string' ? failure : null,
      });
    if (next?.['target'] !== target) continue;
    for (let dueAt = Number(due) + every * 1_000; dueAt < Number(next?.['due']); dueAt += every * 1_000)
      missing.push({ dueAt, status: null, failure: null });
  }
  return missing;
}

const parts: Readonly<Record<string, () => Promise<void>>> = {
  cost: measureCost,
  stops: async () => measureStops('SIGTERM'),
  yields: async () => measureStops('yield'),
  join: async () => measureJoin(Number(values.results)),
  starts: async () => measureStarts(Number(values.starts)),
};
for (const [name, measure] of Object.entries(parts))
  if (values.only === undefined || values.only === name) await measure();
