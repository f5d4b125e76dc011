import { expect, test } from 'vitest';
import { runIsolated, whyNotIsolated } from '../../support/isolated.ts';

const code = (host: string, type = 'tcp') => `
  import { createGate } from '#checks/gate.ts';
  import { checkOf, CheckSpec } from '#checks/index.ts';
  import { systemClock as clock } from '#kernel/clock.ts';
  import { systemRandom as random } from '#kernel/random.ts';
  const resolver = { resolve: async () => ({ ok: true, addresses: [] }) };
  const gate = createGate({ policy: 'private', allow: [], deny: [], resolver, clock, ownAddresses: () => [] });
  const spec = CheckSpec.parse({ type: '${type}', host: '${host}', timeout: '5s' });
  const prober = await checkOf(spec.type).start({ clock, random, localAddress: {} });
  console.log(JSON.stringify(await prober.probe(spec, { gate, signal: new AbortController().signal })));
  await prober.close();
`;

const why = await whyNotIsolated();

async function outcomeIn(shell: string, host: string, type?: string): Promise<unknown> {
  if (why !== null) throw new Error(why);
  return JSON.parse(await runIsolated(shell, code(host, type)));
}

test.skipIf(why !== null && process.env.CI === undefined)(
  `without a route the node is at fault${why === null ? '' : ` (${why})`}`,
  async () => {
    expect(await outcomeIn('true', '10.9.0.2:80')).toMatchObject({
      status: 'unknown',
      failure: { source: 'node', code: 'local' },
    });
    expect(await outcomeIn('true', '[fd00::2]:80')).toMatchObject({
      status: 'unknown',
      failure: { source: 'node', code: 'local' },
    });
  },
);

// The neighbour never answers, so the kernel gives up on it after three tries of 50 ms, and says so over loopback.
const silentNeighbour = `
  ip link set lo up
  ip link add near type veth peer name far
  echo 50 > /proc/sys/net/ipv4/neigh/near/retrans_time_ms || true
  ip address add 10.9.0.1/24 dev near
  ip link set near up
  ip link set far up
`;

test.skipIf(why !== null && process.env.CI === undefined)(
  `with a route but nobody there the target is unreachable${why === null ? '' : ` (${why})`}`,
  async () => {
    expect(await outcomeIn(silentNeighbour, '10.9.0.2:80')).toMatchObject({
      status: 'down',
      address: '10.9.0.2',
      failure: { source: 'target', code: 'unreachable' },
    });
  },
);

// The routing table itself says "host unreachable": nobody else has said anything about the target.
const closedRoute = `
  ip link set lo up
  ip route add unreachable 10.9.0.0/24
`;

test.skipIf(why !== null && process.env.CI === undefined).each([
  ['tcp', '10.9.0.2:80'],
  ['http', 'http://10.9.0.2'],
  ['udp', '10.9.0.2:53'],
  ['ping', '10.9.0.2'],
])(
  `a host that the node's own routing table calls unreachable is no fault of the target, says %s`,
  async (type, host) => {
    expect(await outcomeIn(closedRoute, host, type)).toMatchObject({
      status: 'unknown',
      failure: { source: 'node', code: 'local' },
    });
  },
);
