import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Random } from '#kernel/random.ts';
import { type Fleet, startFleet } from '../support/fleet.ts';
import { createMachines } from '../support/machines.ts';
import { eventually, query } from '../support/program.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { faultsOf, type FleetOutage, historiesOf, roundsIn } from './hubs-faults.ts';
import { cause, placeOf, type Trouble, troubleNames } from './hubs-troubles.ts';
import { judge } from './judge.ts';
import { createMachineClock } from '../support/machine-clock.ts';

// Three machines with a hub, a nats-server and a node each, which fail at random, with their links, disks and clocks, while a target and the mail server come and go.

export interface HubsDay {
  readonly counts: Readonly<Record<string, number>>;
  readonly faults: readonly string[];
}

const sleep = async (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

// An outage is longer than a take-over, so that it is seen by whichever hub leads.
const outageMs = 12_000;
// Clocks are off for a part of it.
const toleranceMs = 6_000;
const diskSize = '64m';

export interface HubsDayOptions {
  readonly kills: number;
  readonly seed: number;
  readonly report: (line: string) => void;
}

export async function playHubs({ kills, seed, report }: HubsDayOptions): Promise<HubsDay> {
  const random = seededRandom(seed);
  const folder = mkdtempSync(join(tmpdir(), 'watchpost-hubs-'));
  using _ = { [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
  const hubs = ['a', 'b', 'c'];
  const clocks = new Map(hubs.map((name) => [name, createMachineClock(mkdtempSync(join(folder, name)))]));
  const environments = Object.fromEntries([...clocks].map(([name, { environment }]) => [name, environment]));
  await using world = createMachines(hubs.length, folder, diskSize);
  await using fleet = await startFleet({ hubs, nodes: ['us1', 'de1', 'jp1'], serverCount: 3, environments, world });
  for (const hub of fleet.hubs) await hub.start();
  await fleet.leader();
  await fleet.agreed();
  const counts: Record<Trouble, number> = Object.fromEntries(troubleNames.map((name) => [name, 0])) as Record<
    Trouble,
    number
  >;
  const outages: FleetOutage[] = [];
  let isOver = false;
  const weather = playWeather(fleet, seededRandom(seed + 1), outages, () => isOver);
  let deck: Trouble[] = [];
  for (let done = 0; done < kills; done += 1) {
    // Each kind happens before any happens again.
    if (deck.length === 0) deck = [...troubleNames];
    const [trouble = 'kill'] = deck.splice(Math.floor(random.next() * deck.length), 1);
    const index = Math.floor(random.next() * hubs.length);
    const forMs = 1_000 + random.next() * 19_000;
    const place = placeOf(fleet, world, index);
    counts[trouble] += 1;
    report(`${new Date().toISOString()} ${trouble} ${place.hub.name} for ${Math.round(forMs / 1_000)} s`);
    await cause(trouble, { ...place, fleet, forMs, clock: clocks.get(place.hub.name) });
    await sleep(2_000 + random.next() * 6_000);
  }
  isOver = true;
  await weather;
  await fleet.smtp.start();
  await fleet.leader();
  try {
    await untilOver(fleet);
  } catch (error) {
    report(await lastWords(fleet));
    throw error;
  }
  await sleep(toleranceMs);
  const histories = await historiesOf(fleet.hubs);
  for (const hub of fleet.hubs) await hub.running?.end('SIGTERM');
  const { rounds, missing } = roundsIn(histories);
  const judged = judge({
    query: (sql) => query(fleet.hub('a').program.database, sql),
    received: fleet.smtp.received,
    isHistoryJudged: false,
    isRefused: false,
  });
  return {
    counts: { ...counts, 'target away': outages.length, rounds, 'rounds without a result': missing, ...judged.counts },
    faults: [...faultsOf(histories, outages, toleranceMs), ...judged.faults],
  };
}

async function untilOver(fleet: Fleet): Promise<void> {
  await eventually(120_000, () => {
    const open = query(fleet.hub('a').program.database, `SELECT id, rule, story FROM incidents WHERE ended_at IS NULL`);
    const due = query(fleet.hub('a').program.database, `SELECT * FROM deliveries WHERE state = 'pending'`);
    if (open.length + due.length > 0) throw new Error(`not all is over: ${JSON.stringify([open, due])}`);
  });
}

/** What the hubs say of themselves, and logged last. */
async function lastWords(fleet: Fleet): Promise<string> {
  const statuses = await fleet.statuses();
  const logs = fleet.hubs.flatMap(({ name, running }) =>
    (running?.log ?? []).slice(-8).map((line) => `${name}: ${JSON.stringify(line)}`),
  );
  return [...statuses.map((status) => JSON.stringify(status)), ...logs].join('\n');
}

// The target and the mail server come and go.
async function playWeather(fleet: Fleet, random: Random, outages: FleetOutage[], isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    await sleep(outageMs * (1 + random.next()));
    if (random.next() < 0.3) await fleet.smtp.stop();
    const from = Date.now();
    await fleet.target.stop();
    await sleep(outageMs * (1 + random.next()));
    await fleet.target.start();
    outages.push({ from, to: Date.now() });
    await fleet.smtp.start();
  }
}
