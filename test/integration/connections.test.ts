import { expect, test } from 'vitest';
import { fileURLToPath } from 'node:url';
import { createNetworkNamespace, namespaceObstacle } from '../support/network-namespace.ts';

const obstacle = namespaceObstacle();
const scenario = fileURLToPath(new URL('../support/connections-child.ts', import.meta.url));

test.skipIf(obstacle !== null)(
  '1,000 idle connections, 2,000 of many clients, and bodies that never end do not keep others from being answered',
  async () => {
    await using network = createNetworkNamespace();
    network.run(['ip', 'link', 'set', 'lo', 'up']);
    network.run(['ip', 'address', 'add', '198.51.100.0/24', 'dev', 'lo']);
    const told = JSON.parse(network.run([process.execPath, scenario])) as Record<string, unknown>;
    expect(told).toEqual({
      'stranger beside one attacker': true,
      'this machine beside one attacker': true,
      'connections of the attacker': 100,
      'stranger beside many attackers': true,
      'this machine beside many attackers': true,
      'connections of all attackers': 902,
      'strangers beside bodies that never end': 100,
    });
  },
);
