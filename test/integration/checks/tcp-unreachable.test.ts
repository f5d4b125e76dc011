import { expect, test } from 'vitest';
import { runIsolated, whyNotIsolated } from '../../support/isolated.ts';

const code = (host: string) => `
  import { createGate } from '#checks/gate.ts';
  import { tcp } from '#checks/tcp/index.ts';
  import { systemClock as clock } from '#kernel/clock.ts';
  import { systemRandom as random } from '#kernel/random.ts';
  const resolver = { resolve: async () => ({ ok: true, addresses: [] }) };
  const gate = createGate({ policy: 'private', allow: [], deny: [], resolver, clock, ownAddresses: () => [] });
  const prober = await tcp.start({ clock, random, localAddress: {} });
  const spec = tcp.Spec.parse({ type: 'tcp', host: '${host}', timeout: '5s' });
  console.log(JSON.stringify(await prober.probe(spec, { gate, signal: new AbortController().signal })));
`;

const why = await whyNotIsolated();

async function outcomeIn(shell: string, host: string): Promise<unknown> {
  if (why !== null) throw new Error(why);
  return JSON.parse(await runIsolated(shell, code(host)));
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
