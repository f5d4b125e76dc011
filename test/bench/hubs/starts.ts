import { setTimeout as sleep } from 'node:timers/promises';
import { connectionTimes, dial } from '#transport/nats/connection.ts';
import { startFleet } from '../../support/fleet.ts';
import { eventually } from '../../support/program.ts';
import { putLoad } from '../api/load.ts';
import { cpuSeconds } from '../tools/processes.ts';

// What checks of callers cost who start them on two hubs in turn: CPU of each hub and messages through NATS.

const connections = 8;

export async function measureStarts(count: number): Promise<void> {
  await using fleet = await startFleet();
  const limits = 'per_client: 100000/s, per_target: 100000/s, per_node: 100000/s, overall: 100000/s';
  const edit = (config: string) => `${config}service: { allow_private: true, limits: { ${limits} } }\n`;
  const [a, b] = [fleet.hub('a'), fleet.hub('b')];
  await a.start(edit);
  await fleet.leader();
  await b.start(edit);
  await b.running?.logged(/the history is that of the other hubs/);
  for (const hub of [a, b])
    await eventually(30_000, async () => {
      const nodes = await (await fetch(`${hub.url}/nodes/hosts`, { headers: { accept: 'application/json' } })).text();
      if (!nodes.includes('us1')) throw new Error(`hub ${hub.name} does not know the node yet`);
    });
  const leader = (await fleet.leader()).name;
  const connection = await dial({ ...fleet.nats.account(), name: 'bench' }, connectionTimes);
  const subjects = new Map<string, number>();
  let messages = 0;
  connection.subscribe('wp.v1.>', {
    callback(_, { subject }) {
      messages += 1;
      const kind = subject.split('.').slice(2, 4).join('.');
      subjects.set(kind, (subjects.get(kind) ?? 0) + 1);
    },
  });
  const { hostname, port } = new URL(fleet.target.url);
  const path = `/check-tcp?host=${encodeURIComponent(`${hostname}:${port}`)}&max_nodes=1`;
  const ask = () => ({ path, answered: () => {} });
  // Warm before anything is measured.
  for (const { url } of [a, b]) await putLoad(url, connections, ask, { count: count / 4 });
  for (const hubs of [[a], [b], [a, b]]) {
    const pids = hubs.map(({ running }) => running?.process.pid ?? 0);
    const used = () => pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0);
    await connection.flush();
    const before = used();
    messages = 0;
    subjects.clear();
    const each = count / hubs.length;
    const loads = await Promise.all(hubs.map(async ({ url }) => putLoad(url, connections, ask, { count: each })));
    // A start is answered before its check is over.
    await sleep(3_000);
    const done = loads.reduce((sum, load) => sum + load.count, 0);
    const perSecond = loads.reduce((sum, load) => sum + load.perSecond, 0);
    const names = hubs.map(({ name }) => `${name}${name === leader ? ' (leads)' : ' (follows)'}`).join(' and ');
    console.log(
      `starts on ${names}: ${done}, ${perSecond.toFixed(0)} per second; CPU of the hubs ${(((used() - before) / done) * 1e6).toFixed(0)} us ` +
        `and ${(messages / done).toFixed(2)} messages per start (${[...subjects].map(([kind, n]) => `${kind} ${(n / done).toFixed(2)}`).join(', ')})`,
    );
  }
  await connection.close();
}
