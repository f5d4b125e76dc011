import { once } from 'node:events';
import { systemClock } from '#kernel/clock.ts';
import { systemRandom } from '#kernel/random.ts';
import { Secret } from '#kernel/secret.ts';
import type { Account } from '#transport/nats/connection.ts';
import { startRemoteNode } from '#transport/nats/node.ts';
import { memorySpool, quiet, scriptedNode } from '../../support/remote-nodes.ts';

// Many nodes in one process, whose checks take no time. It ends when the other side lets go.
type Written = Omit<Account, 'seed'> & { readonly seed: string };

const [accounts] = (await once(process, 'message')) as [readonly Written[]];
const nodes = accounts.map((account) =>
  startRemoteNode({
    name: account.name,
    account: { ...account, seed: new Secret(account.seed) },
    local: scriptedNode(account.name),
    spool: memorySpool(100_000),
    limit: 100_000,
    version: '0',
    refusedMs: 600_000,
    clock: systemClock,
    random: systemRandom,
    log: quiet,
  }),
);
while (nodes.some(({ welcome }) => !welcome)) await new Promise((resolve) => setTimeout(resolve, 50));
process.send?.('ready');
await once(process, 'disconnect');
await Promise.all(nodes.map(async (node) => node.stop(0)));
process.exit();
