import { beforeAll, describe, expect, test } from 'vitest';
import { probedTypeNames } from '#checks/index.ts';
import { runIsolated, whyNotIsolated } from '../../support/isolated.ts';

// Whoever reaches nothing sees the same of every target: all types of checks have to tell whose fault that is, and alike.

const why = await whyNotIsolated();

const specs: Readonly<Record<string, (host: string) => object>> = {
  ping: (host) => ({ host: host.replace(/[[\]]/g, ''), count: 3 }),
  http: (host) => ({ host: `https://${host}/` }),
  tcp: (host) => ({ host: `${host}:25`, send: 'hello', expect: 'hello' }),
  dns: (host) => ({ host: 'a.example', resolver: `${host}:53`, record: 'A' }),
  udp: (host) => ({ host: `${host}:9` }),
  tls: (host) => ({ host: `${host}:443` }),
  grpc: (host) => ({ host: `${host}:50051`, tls: true }),
  flow: (host) => ({ host: `https://${host}/`, steps: [{}] }),
  websocket: (host) => ({ host: `ws://${host}/` }),
  postgres: (host) => ({ host }),
  mysql: (host) => ({ host }),
  redis: (host) => ({ host }),
  mongodb: (host) => ({ host }),
  mqtt: (host) => ({ host }),
  amqp: (host) => ({ host }),
  ssh: (host) => ({ host }),
  traceroute: (host) => ({ host: host.replace(/[[\]]/g, '') }),
  mtr: (host) => ({ host: host.replace(/[[\]]/g, ''), packets: 3, interval: '100ms' }),
};

const code = (host: string, timeout: string) => `
  import { createGate } from '#checks/gate.ts';
  import { CheckSpec } from '#checks/index.ts';
  import { nodeTypeOf } from '#checks/node-types.ts';
  import { systemClock as clock } from '#kernel/clock.ts';
  import { systemRandom as random } from '#kernel/random.ts';
  const resolver = { resolve: async () => ({ ok: true, addresses: [] }) };
  const gate = createGate({ policy: 'private', allow: [], deny: [], resolver, clock, ownAddresses: () => [] });
  const specs = ${JSON.stringify(Object.entries(specs).map(([type, specOf]) => ({ type, timeout, ...specOf(host) })))};
  const probe = async (given) => {
    const spec = CheckSpec.parse(given);
    const prober = await (await nodeTypeOf(spec.type).load()).start({ clock, random, localAddress: {} });
    const outcome = await prober.probe(spec, { gate, signal: new AbortController().signal });
    await prober.close();
    return [spec.type, outcome.status + ' ' + outcome.failure?.source + ' ' + outcome.failure?.code];
  };
  console.log(JSON.stringify(Object.fromEntries(await Promise.all(specs.map(probe)))));
`;

// Of a domain a registry is asked: what keeps a node from that is never the domain's fault. A plugin connects by itself, and a container engine is on this machine.
const reaching = probedTypeNames.filter(
  (type) => type !== 'domain' && type !== 'plugin' && type !== 'docker' && type !== 'systemd',
);
const alike = (outcome: string) => Object.fromEntries(reaching.map((type) => [type, outcome]));
const own = alike('unknown node local');
// The kernel tells datagram sockets of no such thing (udp(7)): to them it is silence, which is for each check to judge.
const unreachable = { ...alike('down target unreachable'), dns: 'down target timeout', udp: 'unknown target silent' };

// What asks for a neighbour gives up after three tries of 50 ms.
const link = `
  ip link set lo up
  ip link add near type veth peer name far
  echo 50 > /proc/sys/net/ipv4/neigh/near/retrans_time_ms
  echo 50 > /proc/sys/net/ipv6/neigh/near/retrans_time_ms
  ip address add 10.9.0.1/24 dev near
  ip address add fd09::1/64 dev near nodad
  ip link set near up
  ip link set far up
`;

const routes = `
  ip route add default via 10.9.0.254
  ip route add default via fd09::ff
`;

// A router that answers, and whose neighbour does not. (What an `unreachable` route refuses, the kernel tells of five times and then
// once a second, whoever asks: net.ipv4.route.error_burst, which no namespace has of its own.)
const router = `
  setpriv --pdeathsig KILL unshare --net sleep 60 > /dev/null &
  router=$!
  until [ "$(readlink /proc/$router/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.05; done
  ip link set far netns $router
  nsenter --target $router --net sh -ec '
    ip address add 10.9.0.254/24 dev far
    ip link set far up
    echo 1 > /proc/sys/net/ipv4/ip_forward
    echo 0 > /proc/sys/net/ipv4/icmp_ratelimit
    ip link add onward type veth peer name nobody
    echo 50 > /proc/sys/net/ipv4/neigh/onward/retrans_time_ms
    ip address add 10.8.0.254/24 dev onward
    ip link set onward up
    ip link set nobody up
  '
`;

interface Scene {
  readonly name: string;
  readonly shell: string;
  readonly host: string;
  readonly timeout?: string;
  readonly expected: object;
}

const scenes: readonly Scene[] = [
  { name: 'nobody has a route: the node', shell: 'true', host: '10.9.0.2', expected: own },
  { name: 'nobody has a route for IPv6: the node', shell: 'true', host: '[fd00::2]', expected: own },
  {
    name: 'the own routing table says that it is unreachable: the node',
    shell: 'ip link set lo up; ip route add unreachable 10.9.0.0/24',
    host: '10.9.0.2',
    expected: own,
  },
  {
    name: 'the own routing table forbids it: the node',
    shell: 'ip link set lo up; ip route add prohibit 10.9.0.0/24',
    host: '10.9.0.2',
    expected: own,
  },
  {
    name: 'the own routing table swallows it: the node',
    shell: 'ip link set lo up; ip route add blackhole 10.9.0.0/24',
    host: '10.9.0.2',
    expected: own,
  },
  { name: 'the gateway is dead: the node', shell: link + routes, host: '10.8.0.1', expected: own },
  { name: 'the gateway is dead for IPv6: the node', shell: link + routes, host: '[fd08::1]', expected: own },
  {
    name: 'the gateway is dead, and the check over before the kernel gives up: the node',
    shell: `${link + routes} echo 2000 > /proc/sys/net/ipv4/neigh/near/retrans_time_ms`,
    host: '10.8.0.1',
    timeout: '500ms',
    expected: own,
  },
  {
    name: 'the own interface is down: the node',
    shell: `${link + routes} ip link set near down`,
    host: '10.9.0.2',
    expected: own,
  },
  {
    name: 'the own cable is out: the node',
    shell: `${link} ip link set far down`,
    host: '10.9.0.2',
    expected: own,
  },
  {
    name: 'a neighbour does not answer: the target',
    shell: link,
    host: '10.9.0.2',
    timeout: '6s',
    expected: unreachable,
  },
  {
    name: 'a router on the way says so: the target',
    shell: link + routes + router,
    host: '10.8.0.1',
    timeout: '6s',
    expected: unreachable,
  },
];

describe.skipIf(why !== null && process.env.CI === undefined)(
  `whose fault it is that nothing is reached${why === null ? '' : ` (${why})`}`,
  () => {
    beforeAll(() => {
      if (why !== null) throw new Error(why);
    });

    test('is asked of every type of check', () => {
      expect(Object.keys(specs).toSorted()).toEqual([...reaching].toSorted());
    });

    test.each(scenes)('$name', async ({ shell, host, timeout = '2s', expected }) => {
      expect(JSON.parse(await runIsolated(shell, code(host, timeout)))).toEqual(expected);
    });
  },
);
