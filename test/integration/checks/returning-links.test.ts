import { beforeAll, describe, expect, test } from 'vitest';
import { runIsolated, whyNotIsolated } from '../../support/isolated.ts';

// A check that runs while a link, a route or the gateway of its node goes or comes back says nothing about its target.

const why = await whyNotIsolated();

// What is done right before a check that waits for an answer, and once it has begun; then what it came to.
const code = (host: string, before: string, during: string, type: string) => `
  import { execFileSync } from 'node:child_process';
  import { setImmediate as turn } from 'node:timers/promises';
  import { createGate } from '#checks/gate.ts';
  import { CheckSpec } from '#checks/index.ts';
  import { nodeTypeOf } from '#checks/node-types.ts';
  import { systemClock as clock } from '#kernel/clock.ts';
  import { systemRandom as random } from '#kernel/random.ts';
  const sh = (script) => execFileSync('sh', ['-ec', script]);
  const resolver = { resolve: async () => ({ ok: true, addresses: [] }) };
  const gate = createGate({ policy: 'private', allow: [], deny: [], resolver, clock, ownAddresses: () => [] });
  const host = ${JSON.stringify(host)};
  const specs = { tcp: { host: host + ':25' }, ping: { host: host.replace(/[[\\]]/g, ''), count: 2 }, http: { host: 'http://' + host + '/' } };
  const spec = CheckSpec.parse({ type: ${JSON.stringify(type)}, timeout: '1500ms', ...specs[${JSON.stringify(type)}] });
  const prober = await (await nodeTypeOf(spec.type).load()).start({ clock, random, localAddress: {} });
  const probe = () => prober.probe(spec, { gate, signal: new AbortController().signal });
  // A node listens from its first check on.
  const first = await probe();
  sh(${JSON.stringify(before)});
  const pending = probe();
  await turn();
  await turn();
  sh(${JSON.stringify(during)});
  const outcome = await pending;
  await prober.close();
  const said = (one) => [one.status, one.failure?.source, one.failure?.code].join(' ');
  console.log(JSON.stringify({ first: said(first), second: said(outcome), message: outcome.failure?.message }));
  process.exit(0);
`;

// Neighbours that are known for good and answer nothing: what is sent to them is lost.
const silent = ['10.9.0.2', '10.9.0.253', '10.9.0.254', 'fd09::2', 'fd09::fe', 'fd09::ff']
  .map((address) => `ip neighbour replace ${address} lladdr 02:00:00:00:00:01 dev near nud permanent`)
  .join('\n');
const link = `
  ip link set lo up
  ip link add near type veth peer name far
  ip address add 10.9.0.1/24 dev near
  ip address add fd09::1/64 dev near nodad
  ip link set near up
  ip link set far up
  ${silent}
  ip route add default via 10.9.0.254
  ip route add default via fd09::ff
`;

interface Scene {
  readonly name: string;
  readonly host: string;
  readonly type?: string;
  readonly before?: string;
  readonly during: string;
  readonly outcome: string;
}

const own = 'unknown node local';
const theirs = 'down target timeout';
const scenes: readonly Scene[] = [
  { name: 'nothing changes: the target', host: '10.8.0.1', during: 'true', outcome: theirs },
  {
    name: 'the cable is out when it begins, and back before it ends: the node',
    host: '10.9.0.2',
    before: 'ip link set far down',
    during: 'ip link set far up',
    outcome: own,
  },
  {
    name: 'the cable is out when it begins, and back before it ends, IPv6: the node',
    host: '[fd09::2]',
    before: 'ip link set far down',
    during: 'ip link set far up',
    outcome: own,
  },
  {
    name: 'the cable goes out and in while it runs: the node',
    host: '10.8.0.1',
    during: 'ip link set far down; ip link set far up',
    outcome: own,
  },
  {
    name: 'the same for a check of another type: the node',
    host: '10.8.0.1',
    type: 'http',
    during: 'ip link set far down; ip link set far up',
    outcome: own,
  },
  {
    name: 'a route to it comes while it runs: the node',
    host: '10.8.0.1',
    during: 'ip route add 10.8.0.0/24 via 10.9.0.253',
    outcome: own,
  },
  {
    name: 'a route to it comes while it runs, IPv6: the node',
    host: '[fd08::1]',
    during: 'ip route add fd08::/64 via fd09::fe',
    outcome: own,
  },
  {
    name: 'the default route goes and comes back while it runs: the node',
    host: '[fd08::1]',
    during: 'ip route del default via fd09::ff; ip route add default via fd09::ff',
    outcome: own,
  },
  {
    name: 'the gateway is given up and answers again while it runs: the node',
    host: '10.8.0.1',
    during: `ip neighbour replace 10.9.0.254 dev near nud failed; ${silent}`,
    outcome: own,
  },
  {
    name: 'a route to something else comes: the target',
    host: '10.8.0.1',
    during: 'ip route add 10.77.0.0/16 via 10.9.0.253; ip route add fd08::/64 via fd09::fe',
    outcome: theirs,
  },
  {
    name: 'another interface comes and goes, as those of containers do: the target',
    host: '10.8.0.1',
    during: 'ip link add one type veth peer name two; ip link set one up; ip link set two up; ip link del one',
    outcome: theirs,
  },
  {
    name: 'the same route is announced again and again: the target',
    host: '10.8.0.1',
    before: 'ip route replace default via 10.9.0.254; ip route replace default via 10.9.0.254',
    during: 'ip route replace default via 10.9.0.254; ip route replace default via 10.9.0.254',
    outcome: theirs,
  },
];

describe.skipIf(why !== null && process.env.CI === undefined)(
  `whose fault it is that a check fails while the own network changes${why === null ? '' : ` (${why})`}`,
  () => {
    beforeAll(() => {
      if (why !== null) throw new Error(why);
    });

    // Each has a network of its own.
    test.concurrent.each(scenes)('$name', async ({ host, type = 'tcp', before = 'true', during, outcome }) => {
      const told: { first: string; second: string } = JSON.parse(
        await runIsolated(link, code(host, before, during, type)),
      );
      expect(told).toMatchObject({ first: theirs, second: outcome });
    });
  },
);
