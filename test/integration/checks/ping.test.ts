import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createNetworkNamespace, namespaceObstacle, type NetworkNamespace } from '../../support/network-namespace.ts';
import { type PingProcess, startPingProcess } from '../../support/ping-process.ts';

const obstacle = namespaceObstacle();
const anybody = '0 2147483647';
const nobody = '1 0';
const quick = { count: 3, interval: '20ms', timeout: '400ms' };

function allow(namespace: NetworkNamespace, groups: string): void {
  namespace.run(['sh', '-c', `echo "${groups}" > /proc/sys/net/ipv4/ping_group_range`]);
}

// Lines of the kernel's socket tables after their heading.
function sockets(namespace: NetworkNamespace, table: string): number {
  return (
    namespace
      .run(['cat', `/proc/net/${table}`])
      .trim()
      .split('\n').length - 1
  );
}

test('network namespaces can be made', (context) => {
  if (obstacle !== null && !process.env.CI) context.skip(obstacle);
  expect(obstacle).toBeNull();
});

describe.skipIf(obstacle !== null).each([
  { kind: 'datagram', groups: anybody, icmp: 1, raw: 0 },
  { kind: 'raw', groups: nobody, icmp: 0, raw: 1 },
])('over $kind sockets', ({ kind, groups, icmp, raw }) => {
  let namespace: NetworkNamespace;
  let pings: PingProcess;

  beforeAll(async () => {
    namespace = createNetworkNamespace();
    allow(namespace, groups);
    await namespace.reflect();
    pings = await startPingProcess(namespace);
  });

  afterAll(async () => {
    await namespace[Symbol.asyncDispose]();
  });

  test('one socket per family is open, of that kind', async () => {
    expect(pings.capability).toEqual({ able: true });
    await Promise.all(['10.99.0.9', '10.99.0.8', 'fd99::9'].map(async (host) => pings.probe(host, quick)));
    expect(['icmp', 'icmp6', 'raw', 'raw6'].map((table) => sockets(namespace, table))).toEqual([icmp, icmp, raw, raw]);
  });

  describe.each([
    { family: 'IPv4', address: (behaviour: number, ms: number) => `10.99.${behaviour}.${ms}` },
    {
      family: 'IPv6',
      address: (behaviour: number, ms: number) => `fd99::${behaviour === 0 ? '' : `${behaviour}:`}${ms.toString(16)}`,
    },
  ])('over $family', ({ family, address }) => {
    test('a reply after 20 ms is up with that round trip, taken by the kernel', async () => {
      const host = address(0, 20);
      const outcome = await pings.probe(host, quick);
      expect(outcome).toMatchObject({
        status: 'up',
        address: host,
        facts: { loss: 0 },
        detail: { timed_by: 'kernel', duplicates: 0 },
      });
      expect(outcome.detail?.attempts.map(({ status, ttl }) => [status, ttl])).toEqual([0, 1, 2].map(() => ['OK', 61]));
      // How much longer it takes is the reflector's doing; `npm run bench accuracy` measures it.
      expect(outcome.facts.rtt_min).toBeGreaterThan(0.02);
    });

    test('every second reply missing is up with half the loss', async () => {
      const outcome = await pings.probe(address(1, 5), { ...quick, count: 4 });
      expect(outcome).toMatchObject({ status: 'up', facts: { loss: 0.5 } });
      expect(outcome.detail?.attempts.map(({ status }) => status)).toEqual(['OK', 'TIMEOUT', 'OK', 'TIMEOUT']);
    });

    test('replies that come twice are up and counted once', async () => {
      const outcome = await pings.probe(address(2, 5), quick);
      expect(outcome).toMatchObject({ status: 'up', facts: { loss: 0 } });
      expect(outcome.detail?.attempts).toHaveLength(3);
      expect(outcome.detail?.duplicates).toBeGreaterThanOrEqual(2);
    });

    test.each([
      { what: 'with another byte', behaviour: 3 },
      { what: 'that are cut short', behaviour: 8 },
    ])('replies $what are malformed', async ({ behaviour }) => {
      const outcome = await pings.probe(address(behaviour, 5), quick);
      expect(outcome).toMatchObject({ status: 'down', failure: { source: 'target', code: 'protocol' } });
      expect(outcome.detail?.attempts.map(({ status }) => status)).toEqual(Array(3).fill('MALFORMED'));
    });

    test.each([
      { what: 'an unreachable host', behaviour: 4, text: family === 'IPv4' ? 'host' : 'address' },
      { what: 'too many hops', behaviour: 5, text: family === 'IPv4' ? 'time to live' : 'hop limit' },
    ])('a router that reports $what is down with its words', async ({ behaviour, text }) => {
      const outcome = await pings.probe(address(behaviour, 5), quick);
      expect(outcome).toMatchObject({ status: 'down', failure: { source: 'target', code: 'unreachable' } });
      const router = family === 'IPv4' ? '10.99.255.1' : 'fd99::ff:1';
      expect(outcome.status === 'down' ? outcome.failure.message : '').toMatch(
        new RegExp(`^${text} .*, says ${router}$`),
      );
      expect(outcome.detail?.attempts.map(({ status }) => status)).toEqual(Array(3).fill('DEST_UNREACH'));
    });

    test.each([
      { what: 'silence', behaviour: 99 },
      { what: 'a reply from another address', behaviour: 6 },
    ])('$what is a timeout', async ({ behaviour }) => {
      const outcome = await pings.probe(address(behaviour, 5), { ...quick, timeout: '100ms' });
      expect(outcome).toMatchObject({ status: 'down', failure: { source: 'target', code: 'timeout' } });
      expect(outcome.detail?.attempts.map(({ status }) => status)).toEqual(Array(3).fill('TIMEOUT'));
    });

    test.each([
      { what: 'a redirect and a source quench', behaviour: 9 },
      { what: 'a reply with another byte', behaviour: 10 },
    ])('$what before the true reply loses nothing', async ({ behaviour }) => {
      const host = family === 'IPv6' ? `fd99::${behaviour.toString(16)}:5` : address(behaviour, 5);
      expect(await pings.probe(host, { ...quick, timeout: '5s' })).toMatchObject({ status: 'up', facts: { loss: 0 } });
    });

    test('a reply after the timeout is a timeout', async () => {
      const outcome = await pings.probe(address(0, 120), { ...quick, count: 1, timeout: '100ms' });
      expect(outcome).toMatchObject({ status: 'down', failure: { code: 'timeout' }, facts: { loss: 1 } });
    });

    test('an unreachable host does not disturb pings of others at the same time', async () => {
      const bad = Array.from({ length: 10 }, async (_, index) => pings.probe(address(4, index), quick));
      const good = Array.from({ length: 20 }, async (_, index) => pings.probe(address(0, index + 1), quick));
      const outcomes = await Promise.all([...bad, ...good]);
      expect(outcomes.map(({ status }) => status)).toEqual([...Array(10).fill('down'), ...Array(20).fill('up')]);
      expect(outcomes.slice(10).map(({ facts }) => facts.loss)).toEqual(Array(20).fill(0));
    });
  });

  test('a broken checksum is malformed where the kernel lets it through, and a timeout where it does not', async () => {
    const outcome = await pings.probe('10.99.7.5', { ...quick, timeout: '100ms' });
    const status = kind === 'raw' ? 'MALFORMED' : 'TIMEOUT';
    expect(outcome.detail?.attempts.map((attempt) => attempt.status)).toEqual(Array(3).fill(status));
  });

  test('a family without any route is the fault of the node', async () => {
    const outcome = await pings.probe('2001:db8::1', quick);
    expect(outcome).toMatchObject({ status: 'unknown', failure: { source: 'node', code: 'local' } });
    expect(outcome.detail?.attempts).toMatchObject([{ status: 'ERROR', seconds: 0 }]);
  });

  test('the largest payload comes back whole', async () => {
    expect(await pings.probe('10.99.0.1', { ...quick, size: '1472B' })).toMatchObject({
      status: 'up',
      facts: { loss: 0 },
    });
  });
});

test.skipIf(obstacle !== null)('a node that may open neither kind of socket says what to set', async () => {
  await using namespace = createNetworkNamespace();
  allow(namespace, nobody);
  const pings = await startPingProcess(namespace, ['setpriv', '--bounding-set=-net_raw']);
  expect(pings.capability).toMatchObject({ able: false, reason: expect.stringContaining('net.ipv4.ping_group_range') });
  expect(await pings.probe('127.0.0.1')).toMatchObject({
    status: 'unknown',
    failure: { source: 'node', code: 'unsupported' },
  });
});

test.skipIf(obstacle !== null)('a dead gateway is the fault of the node, a dead neighbour its own', async () => {
  await using namespace = createNetworkNamespace();
  allow(namespace, anybody);
  for (const command of [
    'ip link set lo up',
    'ip link add veth0 type veth peer name veth1',
    'ip addr add 10.98.0.1/24 dev veth0',
    'ip link set veth0 up',
    'ip link set veth1 up',
    'ip route add default via 10.98.0.2',
  ]) {
    namespace.run(command.split(' '));
  }
  namespace.run(['sh', '-c', 'echo 50 > /proc/sys/net/ipv4/neigh/veth0/retrans_time_ms']);
  const pings = await startPingProcess(namespace);
  const patient = { count: 1, timeout: '3s' };
  const [beyond, neighbour] = await Promise.all([pings.probe('10.97.0.1', patient), pings.probe('10.98.0.3', patient)]);
  expect(beyond).toMatchObject({ status: 'unknown', failure: { source: 'node', code: 'local' } });
  expect(neighbour).toMatchObject({ status: 'down', failure: { source: 'target', code: 'unreachable' } });
});
