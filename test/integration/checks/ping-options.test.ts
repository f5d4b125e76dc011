import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createNetworkNamespace, namespaceObstacle, type NetworkNamespace } from '../../support/network-namespace.ts';
import { type PingProcess, startPingProcess } from '../../support/ping-process.ts';

const obstacle = namespaceObstacle();
const quick = { count: 1, timeout: '2s' };
// One line for each request that comes: its TTL, its class, and whether it may be split, which only IPv4 says.
const listener = `
import select, socket
four = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
six = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
six.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVHOPLIMIT, 1)
six.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVTCLASS, 1)
print('ready', flush=True)
while True:
  for one in select.select([four, six], [], [])[0]:
    data, more, _, _ = one.recvmsg(2048, 256)
    if one is four and data[20] == 8:
      print(data[8], data[1], 'whole' if data[6] & 0x40 else 'any', flush=True)
    if one is six and data[0] == 128:
      told = {kind: int.from_bytes(value, 'little') for _, kind, value in more}
      print(told[socket.IPV6_HOPLIMIT], told[socket.IPV6_TCLASS], 'whole', flush=True)
`;

describe.skipIf(obstacle !== null).each([
  { kind: 'datagram', groups: '0 2147483647' },
  { kind: 'raw', groups: '1 0' },
])('over $kind sockets', ({ groups }) => {
  const namespaces: NetworkNamespace[] = [];
  const seen: string[] = [];
  let pings: PingProcess;

  beforeAll(async () => {
    const [node, router, target] = [createNetworkNamespace(), createNetworkNamespace(), createNetworkNamespace()];
    namespaces.push(node, router, target);
    const shell = (where: NetworkNamespace, ...commands: string[]) => where.run(['sh', '-ec', commands.join('\n')]);
    shell(
      node,
      'ip link set lo up',
      `ip link add near type veth peer name left netns ${router.name}`,
      'ip address add 10.98.1.1/24 dev near',
      'ip address add fd98:1::1/64 dev near nodad',
      'ip link set near up',
      `echo "${groups}" > /proc/sys/net/ipv4/ping_group_range`,
    );
    shell(
      router,
      `ip link add right mtu 1300 type veth peer name far mtu 1300 netns ${target.name}`,
      'ip address add 10.98.1.2/24 dev left',
      'ip address add 10.98.2.2/24 dev right',
      'ip address add fd98:1::2/64 dev left nodad',
      'ip address add fd98:2::2/64 dev right nodad',
      'ip link set left up',
      'ip link set right up',
      'echo 1 > /proc/sys/net/ipv4/ip_forward',
      'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding',
    );
    shell(
      target,
      'ip link set lo up',
      'ip address add 10.98.2.1/24 dev far',
      'ip address add fd98:2::1/64 dev far nodad',
      'ip link set far up',
      'ip route add default via 10.98.2.2',
      'ip -6 route add default via fd98:2::2',
    );
    shell(node, 'ip route add default via 10.98.1.2', 'ip -6 route add default via fd98:1::2');
    const { stdout } = target.start(['python3', '-c', listener]);
    if (stdout === null) throw new Error('the listener has no output');
    const lines = createInterface({ input: stdout });
    await new Promise<void>((resolve) => lines.once('line', () => resolve()));
    lines.on('line', (line) => seen.push(line));
    pings = await startPingProcess(node);
  });

  afterAll(async () => {
    for (const namespace of namespaces) await namespace[Symbol.asyncDispose]();
  });

  describe.each([
    { family: 'IPv4', host: '10.98.2.1', router: '10.98.1.2', headers: 28 },
    { family: 'IPv6', host: 'fd98:2::1', router: 'fd98:1::2', headers: 48 },
  ])('over $family', ({ family, host, router, headers }) => {
    test('TTL and class arrive, and the next request is as usual', async () => {
      seen.length = 0;
      expect(await pings.probe(host, { ...quick, ttl: 9, dscp: 'ef' })).toMatchObject({ status: 'up' });
      expect(await pings.probe(host, { ...quick, dscp: 10 })).toMatchObject({ status: 'up' });
      expect(await pings.probe(host, quick)).toMatchObject({ status: 'up' });
      await expect
        .poll(() => seen.map((line) => line.split(' ').slice(0, 2).join(' ')), { timeout: 30_000 })
        .toEqual([`8 ${46 << 2}`, `63 ${10 << 2}`, '63 0']);
    });

    test('a TTL that ends on the way is down, by the router that says so', async () => {
      const reason = `${family === 'IPv4' ? 'time to live' : 'hop limit'} exceeded, says ${router}`;
      expect(await pings.probe(host, { ...quick, ttl: 1 })).toMatchObject({
        status: 'down',
        failure: { source: 'target', code: 'unreachable', message: reason },
      });
    });

    test('what is too big for the way is down each time, and what fits goes through whole', async () => {
      const whole = { ...quick, dont_fragment: true };
      for (const size of ['1400B', '1400B']) {
        const outcome = await pings.probe(host, { ...whole, size });
        expect(outcome).toMatchObject({ status: 'down', failure: { source: 'target', code: 'unreachable' } });
        expect(outcome.status === 'up' ? '' : outcome.failure.message).toContain(`(1300 bytes fit), says ${router}`);
      }
      seen.length = 0;
      expect(await pings.probe(host, { ...whole, size: `${1_300 - headers}B` })).toMatchObject({ status: 'up' });
      await expect.poll(() => seen.map((line) => line.split(' ')[2]), { timeout: 30_000 }).toEqual(['whole']);
    });
  });

  test("what is too big for the own interface is nobody else's fault", async () => {
    const outcome = await pings.probe('fd98:2::1', { ...quick, dont_fragment: true, size: '1472B' });
    expect(outcome).toMatchObject({ status: 'unknown', failure: { source: 'node', code: 'local' } });
    expect(outcome.status === 'up' ? '' : outcome.failure.message).toContain('larger than this node');
  });
});

test('network namespaces can be made', (context) => {
  if (obstacle !== null && !process.env.CI) context.skip(obstacle);
  expect(obstacle).toBeNull();
});
