import type { Random } from '#kernel/random.ts';
import { type Fleet, type FleetHub, startFleet } from '../support/fleet.ts';
import { historyOf } from '../support/fleet-history.ts';
import { eventually, query } from '../support/program.ts';
import { seededRandom } from '../support/seeded-random.ts';

// Three hubs with one history, whose processes, links and NATS server fail at random while a target and the mail server come and go.

interface Outage {
  readonly from: number;
  readonly to: number;
}

export interface HubsDay {
  readonly counts: Readonly<Record<string, number>>;
  readonly faults: readonly string[];
}

const sleep = async (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

const troubles = ['kill', 'stop', 'suspend', 'cut', 'server', 'yield'] as const;
type Trouble = (typeof troubles)[number];

// An outage is longer than a take-over, so that it is seen by whichever hub leads.
const outageMs = 12_000;
const toleranceMs = 3_000;

export interface HubsDayOptions {
  readonly kills: number;
  readonly seed: number;
  readonly report: (line: string) => void;
}

export async function playHubs({ kills, seed, report }: HubsDayOptions): Promise<HubsDay> {
  const random = seededRandom(seed);
  await using fleet = await startFleet({ hubs: ['a', 'b', 'c'], nodes: ['us1', 'de1', 'jp1'] });
  for (const hub of fleet.hubs) await hub.start();
  await fleet.leader();
  await fleet.agreed();
  const counts: Record<Trouble | 'outages', number> = {
    kill: 0,
    stop: 0,
    suspend: 0,
    cut: 0,
    server: 0,
    yield: 0,
    outages: 0,
  };
  const outages: Outage[] = [];
  let isOver = false;
  const weather = playWeather(fleet, seededRandom(seed + 1), outages, () => isOver);
  for (let done = 0; done < kills; done += 1) {
    const trouble = troubles[Math.floor(random.next() * troubles.length)] ?? 'kill';
    const hub = fleet.hubs[Math.floor(random.next() * fleet.hubs.length)];
    if (hub === undefined) continue;
    counts[trouble] += 1;
    report(`${new Date().toISOString()} ${trouble} ${hub.name}`);
    await cause(trouble, hub, fleet, random);
    await sleep(2_000 + random.next() * 6_000);
  }
  isOver = true;
  await weather;
  await fleet.smtp.start();
  await fleet.leader();
  await eventually(120_000, () => {
    const open = query(fleet.hub('a').program.database, `SELECT id, rule, story FROM incidents WHERE ended_at IS NULL`);
    const due = query(fleet.hub('a').program.database, `SELECT * FROM deliveries WHERE state = 'pending'`);
    if (open.length + due.length > 0) throw new Error(`not all is over: ${JSON.stringify([open, due])}`);
  });
  // Rounds go on while the hubs stop one after another.
  const until = Date.now();
  await sleep(toleranceMs);
  await fleet.agreed();
  for (const hub of fleet.hubs) await hub.running?.end('SIGTERM');
  return { counts: { ...counts, outages: outages.length, ...mailsOf(fleet) }, faults: faultsOf(fleet, outages, until) };
}

async function cause(trouble: Trouble, hub: FleetHub, fleet: Fleet, random: Random): Promise<void> {
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
      hub.link.swallow();
      await sleep(forMs);
      return hub.link.mend();
    case 'server':
      await fleet.nats.stop();
      await sleep(forMs / 2);
      return fleet.nats.start();
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

function faultsOf(fleet: Fleet, outages: readonly Outage[], until: number): readonly string[] {
  const faults: string[] = [];
  const [first, ...others] = fleet.hubs;
  if (first === undefined) return faults;
  const historyUntil = (hub: FleetHub) => {
    const { results, ...rest } = historyOf(hub);
    return { ...rest, results: results.filter(({ due_at: dueAt }) => Number(dueAt) < until) };
  };
  const history = historyUntil(first);
  for (const other of others) {
    const theirs = historyUntil(other);
    for (const part of ['results', 'incidents', 'deliveries', 'states'] as const) {
      const [one, two] = [JSON.stringify(history[part]), JSON.stringify(theirs[part])];
      if (one !== two)
        faults.push(`${part} of ${first.name} and ${other.name} differ: ${difference(history[part], theirs[part])}`);
    }
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
  const known = new Set(two.map((row) => JSON.stringify(row)));
  const missing = one.filter((row) => !known.has(JSON.stringify(row)));
  return `${one.length} and ${two.length} rows, first ${JSON.stringify(missing[0] ?? two.at(-1)).slice(0, 300)}`;
}

const timeOf = (at: number) => new Date(at).toISOString();
