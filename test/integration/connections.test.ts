import { expect, test } from 'vitest';
import { fileURLToPath } from 'node:url';
import { createNetworkNamespace, namespaceObstacle } from '../support/network-namespace.ts';

const obstacle = namespaceObstacle();
const scenario = fileURLToPath(new URL('../support/connections-child.ts', import.meta.url));

// Some of those that are cut while the crowd still comes are let in to wait.
const attackersHeld = (count: unknown) => typeof count === 'number' && count >= 902 && count <= 1_902;

test.skipIf(obstacle !== null).each(['4', '6'])(
  '1,000 idle connections, 2,000 of many clients, and bodies that never end do not keep others from being answered (IPv%s)',
  async (family) => {
    await using network = createNetworkNamespace();
    network.run(['ip', 'link', 'set', 'lo', 'up']);
    if (family === '4') {
      network.run(['ip', 'address', 'add', '198.51.100.0/24', 'dev', 'lo']);
      network.run(['ip', 'address', 'add', '198.18.0.0/16', 'dev', 'lo']);
    } else {
      network.run(['ip', '-6', 'route', 'add', 'local', '2001:db8::/32', 'dev', 'lo']);
      network.run(['sh', '-c', 'echo 1 > /proc/sys/net/ipv6/ip_nonlocal_bind']);
    }
    const told = JSON.parse(network.run([process.execPath, scenario, family])) as Record<string, unknown>;
    expect(told).toEqual({
      'stranger beside one attacker': true,
      'this machine beside one attacker': true,
      'connections of the attacker': 100,
      'stranger beside many attackers': true,
      'this machine beside many attackers': true,
      'connections of all attackers': expect.toSatisfy(attackersHeld),
      'strangers beside bodies that never end': 100,
      'a connection that has asked something, beside 1,000 clients that come back': true,
      'a client of that crowd, when it asks something': true,
    });
  },
);
