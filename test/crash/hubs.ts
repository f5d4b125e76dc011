import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Random } from '#kernel/random.ts';
import { type Fleet, type FleetHub, startFleet } from '../support/fleet.ts';
import { type FleetHistory, snapshotOf } from '../support/fleet-history.ts';
import { eventually, query } from '../support/program.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { createMachineClock, type MachineClock } from './machine-clock.ts';

// Three hubs with one history, whose processes, links, clocks and three NATS servers fail at random while a target and the mail server come and go.

interface Outage {
  readonly from: number;
  readonly to: number;
}

export interface HubsDay {
  readonly counts: Readonly<Record<string, number>>;
  readonly faults: readonly string[];
}

const sleep = async (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

const troubles = {
  /** Of a hub. */
  kill: 'SIGKILL',
  stop: 'SIGTERM',
  suspend: 'SIGSTOP',
  cut: 'nothing gets through between a hub and NATS',
  deaf: 'answers of NATS do not reach a hub',
  clock: 'the clock of a hub is seconds off for a while',
  yield: 'the leader hands over',
  /** Of one of the nats-servers, or all. */
  server: 'SIGKILL',
  frozen: 'SIGSTOP',
  forgotten: 'it loses its data',
  servers: 'all are killed',
} as const;
type Trouble = keyof typeof troubles;
const names = Object.keys(troubles) as Trouble[];
const mostAheadMs = 2_000;

// An outage is longer than a take-over, so that it is seen by whichever hub leads.
const outageMs = 12_000;
// Clocks are off for a part of it.
const toleranceMs = 6_000;

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
  const environments = Object.fromEntries(
    [...clocks].map(([name, { words, environment }]) => [name, { ...environment, NODE_OPTIONS: words.join(' ') }]),
  );
  await using fleet = await startFleet({ hubs, nodes: ['us1', 'de1', 'jp1'], serverCount: 3, environments });
  for (const hub of fleet.hubs) await hub.start();
  await fleet.leader();
  await fleet.agreed();
  const counts: Record<Trouble | 'outages', number> = {
    ...(Object.fromEntries(names.map((name) => [name, 0])) as Record<Trouble, number>),
    outages: 0,
  };
  const outages: Outage[] = [];
  let isOver = false;
  const weather = playWeather(fleet, seededRandom(seed + 1), outages, () => isOver);
  let deck: Trouble[] = [];
  for (let done = 0; done < kills; done += 1) {
    // Each kind happens before any happens again.
    if (deck.length === 0) deck = [...names];
    const [trouble = 'kill'] = deck.splice(Math.floor(random.next() * deck.length), 1);
    const hub = fleet.hubs[Math.floor(random.next() * fleet.hubs.length)];
    if (hub === undefined) continue;
    counts[trouble] += 1;
    report(`${new Date().toISOString()} ${trouble} ${hub.name}`);
    await cause(trouble, { hub, fleet, random, clock: clocks.get(hub.name) });
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
  const histories = await historiesOf(fleet);
  for (const hub of fleet.hubs) await hub.running?.end('SIGTERM');
  return { counts: { ...counts, outages: outages.length, ...mailsOf(fleet) }, faults: faultsOf(histories, outages) };
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

interface TroubledParts {
  readonly hub: FleetHub;
  readonly clock: MachineClock | undefined;
  readonly fleet: Fleet;
  readonly random: Random;
}

async function cause(trouble: Trouble, { hub, clock, fleet, random }: TroubledParts): Promise<void> {
  const server = fleet.servers[Math.floor(random.next() * fleet.servers.length)] ?? fleet.nats;
  const forMs = 1_000 + random.next() * 19_000;
  switch (trouble) {
    case 'kill':
    case 'stop':
      await hub.running?.end(trouble === 'kill' ? 'SIGKILL' : 'SIGTERM');
      await sleep(forMs);
      return void (await hub.start());
    case 'suspend':
      hub.running?.process.kill('SIGSTOP');
      await sleep(forMs);
      return void hub.running?.process.kill('SIGCONT');
    case 'cut':
    case 'deaf':
      hub.link.swallow(trouble === 'cut' ? 'everything' : 'answers');
      await sleep(forMs);
      return hub.link.mend();
    case 'clock':
      clock?.set(Math.round((random.next() * 2 - 1) * mostAheadMs));
      await sleep(forMs);
      return clock?.set(0);
    case 'server':
    case 'forgotten':
      await server.stop();
      if (trouble === 'forgotten') rmSync(join(server.folder, 'jetstream'), { recursive: true, force: true });
      await sleep(forMs / 2);
      return server.start();
    case 'frozen':
      server.signal('SIGSTOP');
      await sleep(forMs);
      return server.signal('SIGCONT');
    case 'servers':
      await Promise.all(fleet.servers.map(async (one) => one.stop()));
      await sleep(forMs / 2);
      return void (await Promise.all(fleet.servers.map(async (one) => one.start())));
    case 'yield': {
      const leader = (await fleet.statuses()).find(({ role }) => role === 'leader');
      // It may be away by now, and then another one takes over anyway.
      if (leader !== undefined)
        await fleet
          .hub(leader.name)
          .yield()
          .catch(() => {});
    }
  }
}

// The target and the mail server come and go.
async function playWeather(fleet: Fleet, random: Random, outages: Outage[], isOver: () => boolean): Promise<void> {
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

const mailsOf = ({ smtp }: Fleet) => ({
  mails: smtp.received.length,
  repeated: smtp.received.length - new Set(smtp.received.map(({ mail }) => mail.messageId)).size,
});

interface HubHistory {
  readonly name: string;
  readonly history: FleetHistory;
}

/** The histories of all hubs at the same position of the log. Rounds go on meanwhile. */
async function historiesOf({ hubs }: Fleet): Promise<readonly HubHistory[]> {
  return eventually(60_000, () => {
    const histories = hubs.map((hub) => ({ name: hub.name, ...snapshotOf(hub) }));
    const positions = new Set(histories.map(({ position }) => position));
    if (positions.size > 1) throw new Error(`the positions differ: ${[...positions].join()}`);
    return histories;
  });
}

function faultsOf([first, ...others]: readonly HubHistory[], outages: readonly Outage[]): readonly string[] {
  if (first === undefined) return ['there is no hub'];
  const faults: string[] = [];
  const { history } = first;
  for (const { name, history: theirs } of others)
    for (const part of Object.keys(history) as (keyof FleetHistory)[]) {
      const [one, two] = [JSON.stringify(history[part]), JSON.stringify(theirs[part])];
      if (one !== two)
        faults.push(`${part} of ${first.name} and ${name} differ: ${difference(history[part], theirs[part])}`);
    }
  const incidents = history.incidents
    .filter(({ rule }) => rule === 'quick')
    .map(({ id, started_at: from, ended_at: to }) => ({ id: String(id), from: Number(from), to: Number(to) }));
  for (const { from, to } of outages) {
    const found = incidents.filter((one) => one.from < to + toleranceMs && one.to > from - toleranceMs);
    if (found.length !== 1) faults.push(`outage of ${timeOf(from)} has ${found.length} incidents`);
  }
  for (const { id, from, to } of incidents) {
    const isTrue = outages.some((one) => from < one.to + toleranceMs && to > one.from - toleranceMs);
    if (!isTrue) faults.push(`incident ${id} has no outage`);
  }
  for (const { incident_id: incident, kind, state } of history.deliveries)
    if (state !== 'sent' && state !== 'merged')
      faults.push(`${String(kind)} of ${String(incident)} is ${String(state)}`);
  return faults;
}

function difference(one: readonly object[], two: readonly object[]): string {
  const beyond = (own: readonly object[], other: readonly object[]) => {
    const known = new Set(other.map((row) => JSON.stringify(row)));
    return (JSON.stringify(own.find((row) => !known.has(JSON.stringify(row)))) ?? 'nothing').slice(0, 300);
  };
  return `${one.length} and ${two.length} rows, only in the first ${beyond(one, two)}, only in the other ${beyond(two, one)}`;
}

const timeOf = (at: number) => new Date(at).toISOString();
