import { expect, test } from 'vitest';
import { fileURLToPath } from 'node:url';
import { createNetworkNamespace, namespaceObstacle } from '../support/network-namespace.ts';

const obstacle = namespaceObstacle();
const scenario = fileURLToPath(new URL('../support/connections-child.ts', import.meta.url));

// Some of those that are cut while the crowd still comes are let in to wait.
const attackersHeld = (count: unknown) => typeof count === 'number' && count >= 902 && count <= 1_902;

test.skipIf(obstacle !== null)(
  '1,000 idle connections, 2,000 of many clients, and bodies that never end do not keep others from being answered',
  async () => {
    await using network = createNetworkNamespace();
    network.run(['ip', 'link', 'set', 'lo', 'up']);
    network.run(['ip', 'address', 'add', '198.51.100.0/24', 'dev', 'lo']);
    network.run(['ip', 'address', 'add', '198.18.0.0/16', 'dev', 'lo']);
    const told = JSON.parse(network.run([process.execPath, scenario])) as Record<string, unknown>;
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
