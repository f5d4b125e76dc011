import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { conclude, type NodeEvidence } from '#checks/evidence/conclusions.ts';
import { EvidenceDocument } from '#checks/evidence/detail.ts';
import type { FailureCode } from '#checks/index.ts';
import { systemClock } from '#kernel/clock.ts';
import { createRoutedNetwork, routedNetworkObstacle, type RoutedNetwork } from '../../support/routed-network.ts';

const obstacle = routedNetworkObstacle();

test('a network with routers can be made', (context) => {
  if (obstacle !== null && !process.env.CI) context.skip(obstacle);
  expect(obstacle).toBeNull();
});

const host = '10.0.5.2';
const host6 = 'fd00:5::2';

describe.skipIf(obstacle !== null)('what is concluded about a path', () => {
  let network: RoutedNetwork;
  let good: EvidenceDocument;
  let good6: EvidenceDocument;

  beforeAll(async () => {
    network = createRoutedNetwork();
    const server = network.host.start(['python3', '-c', listening]);
    await new Promise((resolve) => server.stdout?.once('data', resolve));
    [good, good6] = [await gather(host), await gather(host6)];
  });

  afterAll(async () => {
    await network[Symbol.asyncDispose]();
  });

  async function gather(address: string, port = 8080): Promise<EvidenceDocument> {
    const of = {
      type: 'tcp',
      host: address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`,
      timeout: '1s',
    };
    const outcome = await network.check({ type: 'evidence', host: of.host, of });
    return EvidenceDocument.parse(outcome.detail);
  }

  function scene(router: number, begin: string, end: string) {
    const namespace = network.routers[router - 1]!;
    namespace.run(['sh', '-ec', begin]);
    return { [Symbol.dispose]: () => void namespace.run(['sh', '-ec', end]) };
  }

  function textsOf(document: EvidenceDocument, failure: FailureCode = 'timeout'): readonly string[] {
    const lastGood = document.path?.family === 6 ? good6 : good;
    const failing: NodeEvidence = { node: 'de1', isFailing: true, failure, document, lastGood };
    const healthy: NodeEvidence = { node: 'us1', isFailing: false, failure: null, document: lastGood, lastGood: null };
    return conclude([failing, healthy], systemClock.now()).map(({ text }) => text);
  }

  test('that is good: the target accepts connections', () => {
    expect(good.path).toMatchObject({ end: 'reached', protocol: 'tcp', port: 8080 });
    expect(good.uplink).toMatchObject({ gateway: { address: '10.0.1.2', reached: true } });
    expect(textsOf(good)).toEqual([
      'Packets from de1 reach 10.0.5.2 now, as on the last good path, and TCP port 8080 accepts connections.',
    ]);
  });

  test('to a port that nothing listens on: the target refuses it', async () => {
    expect(textsOf(await gather(host, 8081), 'refused')).toEqual([
      'Packets from de1 reach 10.0.5.2, which refuses TCP port 8081.',
    ]);
    expect(textsOf(await gather(host6, 8081), 'refused')).toEqual([
      'Packets from de1 reach fd00:5::2, which refuses TCP port 8081.',
    ]);
  });

  test('with a router that drops packets: they end before it', async () => {
    using _ = scene(3, `iptables -A FORWARD -d ${host} -j DROP`, 'iptables -F');
    expect(textsOf(await gather(host))).toEqual(['Packets from de1 end after 10.0.3.2 (hop 3); us1 gets through.']);
  });

  test('with a router that drops packets over IPv6: they end before it', async () => {
    using _ = scene(3, `ip6tables -A FORWARD -d ${host6} -j DROP`, 'ip6tables -F');
    expect(textsOf(await gather(host6))).toEqual(['Packets from de1 end after fd00:3::2 (hop 3); us1 gets through.']);
  });

  test.each([
    ['icmp-admin-prohibited', 'rejects packets from de1: they are prohibited'],
    ['icmp-port-unreachable', 'rejects packets from de1 in place of the target (port unreachable)'],
    ['icmp-host-unreachable', 'reports to de1 that the target is unreachable'],
  ])('with a router that rejects packets: it is named (%s)', async (how, text) => {
    using _ = scene(3, `iptables -A FORWARD -d ${host} -j REJECT --reject-with ${how}`, 'iptables -F');
    expect(textsOf(await gather(host))).toEqual([`The router 10.0.3.2 (hop 3) ${text}.`]);
  });

  test('with routers that send packets back and forth: they are named', async () => {
    using _ = scene(3, `ip route add ${host}/32 via 10.0.3.1`, `ip route del ${host}/32`);
    expect(textsOf(await gather(host))).toEqual(['Packets from de1 loop between 10.0.2.2 and 10.0.3.2.']);
  });

  test('with a small MTU that no router states: large packets vanish', async () => {
    const rule = 'OUTPUT -p icmp --icmp-type fragmentation-needed -j DROP';
    using _ = scene(3, `iptables -A ${rule}; ip link set right mtu 1300`, 'iptables -F; ip link set right mtu 1500');
    expect(textsOf(await gather(host), 'protocol')).toEqual([
      'Small packets from de1 reach the target, packets of 1500 bytes vanish after 10.0.3.2 (hop 3) without a message (MTU black hole).',
    ]);
  });

  test.each([
    ['whose link is down', 'ip link set left down', 'ip link set left up'],
    ['that is silent', 'ip address del 10.0.1.2/24 dev left', 'ip address add 10.0.1.2/24 dev left'],
  ])('behind a gateway %s: nothing but that', async (_name, begin, end) => {
    // Otherwise the kernel takes it for reachable for some seconds more.
    network.node.run(['ip', 'neighbour', 'flush', 'all']);
    using _ = scene(1, begin, end);
    expect(textsOf(await gather(host))).toEqual([
      'The gateway of de1 (10.0.1.2) does not answer, so nothing about the target is concluded from there.',
    ]);
  });
});

const listening = `
import socket, time
for family, address in ((socket.AF_INET, '0.0.0.0'), (socket.AF_INET6, '::')):
    server = socket.socket(family)
    if family == socket.AF_INET6:
        server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    server.bind((address, 8080))
    server.listen(50)
    globals()['kept' + address] = server
print('ready', flush=True)
time.sleep(600)
`;
