import { once } from 'node:events';
import { type CheckSpec, failed, failure, type Outcome } from '#checks/index.ts';
import { systemClock } from '#kernel/clock.ts';
import { systemRandom } from '#kernel/random.ts';
import { Secret } from '#kernel/secret.ts';
import type { LocalTarget } from '#node/ports.ts';
import { watchTargets } from '#node/watching.ts';
import type { NodeListener, Transport } from '#service/ports.ts';
import type { Account } from '#transport/nats/connection.ts';
import { startRemoteNode } from '#transport/nats/node.ts';
import { measured, memorySpool, quiet } from '../../support/remote-nodes.ts';
import { down, nodeInfo } from '../../support/votes.ts';

// Many nodes in one process that watch what a hub assigns them, with the wheel and the batches of real nodes; their checks take no
// time. It tells how many results they sent and how many wait, whenever it is asked, takes hosts that are down from then on, and ends
// when the other side lets go.
type Written = Omit<Account, 'seed'> & { readonly seed: string };

export interface Sent {
  readonly results: number;
  readonly waiting: number;
}

let results = 0;
// Targets that are down, by their hosts.
let hostsDown: ReadonlySet<string> = new Set();

const outcomeOf = ({ host }: CheckSpec): Outcome => (hostsDown.has(host) ? down() : measured);

function createLocal(name: string): Transport & { retime(aheadMs: number): void } {
  let listener: NodeListener | null = null;
  let ahead = 0;
  const watching = watchTargets({
    agent: {
      async run({ spec }, __, listener) {
        listener?.onStarted?.(systemClock.now());
        return outcomeOf(spec);
      },
    },
    clock: systemClock,
    aheadMs: () => ahead,
    send(observations, isNews) {
      results += observations.length;
      listener?.seen(name, observations, null, isNews);
    },
  });
  return {
    nodes: () => [
      {
        info: nodeInfo(name),
        online: true,
        reason: null,
        capabilities: { tcp: { able: true } },
        running: 0,
        queued: 0,
        lagSeconds: 0,
      },
    ],
    run: async (_, { spec }) =>
      spec.type === 'tcp' ? outcomeOf(spec) : failed(failure('node', 'internal', 'it has no such check')),
    assign(_, { number, targets }) {
      const local = targets.map((one): LocalTarget => ({ ...one, place: 0, refusal: null }));
      listener?.watching(name, number, watching.assign(local));
    },
    listen(next) {
      listener = next;
    },
    retime(aheadMs) {
      ahead = aheadMs;
      watching.retime();
    },
    close: async () => {},
  };
}

const [accounts] = (await once(process, 'message')) as [readonly Written[]];
const spools = accounts.map(() => memorySpool(1_000_000));
const nodes = accounts.map((account, index) =>
  startRemoteNode({
    name: account.name,
    account: { ...account, seed: new Secret(account.seed) },
    local: createLocal(account.name),
    spool: spools[index] ?? memorySpool(1_000_000),
    limit: 1_000,
    version: '0',
    refusedMs: 600_000,
    clock: systemClock,
    random: systemRandom,
    log: quiet,
  }),
);
process.on('message', (asked: 'how many?' | { readonly down: readonly string[] }) => {
  if (asked !== 'how many?') {
    hostsDown = new Set(asked.down);
    return;
  }
  const waiting = spools.reduce((sum, { size }) => sum + size, 0);
  process.send?.({ results, waiting } satisfies Sent);
});
process.send?.('ready');
await once(process, 'disconnect');
await Promise.all(nodes.map(async (node) => node.stop(0)));
process.exit();
