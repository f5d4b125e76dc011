import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CheckSpec } from '#checks/index.ts';
import { systemClock } from '#kernel/clock.ts';
import type { Transport } from '#service/ports.ts';
import { createRuns } from '#service/runs.ts';
import { createThreadTransport, type ThreadTransport } from '#transport/thread.ts';
import { natsObstacle, startNats } from '../support/nats-server.ts';
import { eventually } from '../support/program.ts';
import { quiet, startHub, startNode } from '../support/remote-nodes.ts';
import { agentOptions, realModule } from '../support/thread-nodes.ts';
import { nodeInfo } from '../support/votes.ts';

const tarpits = 2_000;
const inFlight = 100;
const queued = 1_000;

interface Opened extends AsyncDisposable {
  readonly transport: Transport;
}

function openThread(): ThreadTransport {
  const options = { ...agentOptions, running: inFlight, queued };
  const nodes = [{ info: nodeInfo('de1'), options }];
  return createThreadTransport({ nodes, module: realModule, clock: systemClock, log: quiet });
}

const implementations = [
  {
    name: 'a thread',
    obstacle: null,
    open: async (): Promise<Opened> => {
      const transport = openThread();
      return { transport, [Symbol.asyncDispose]: async () => transport.close() };
    },
  },
  {
    name: 'NATS',
    obstacle: natsObstacle(),
    open: async (): Promise<Opened> => {
      const server = await startNats({ nodes: ['de1'] });
      const hub = await startHub(server);
      const local = openThread();
      await eventually(30_000, () => expect(local.nodes()[0]).toMatchObject({ online: true }));
      const node = startNode(server, 'de1', { local, limit: inFlight + queued });
      return {
        transport: hub.transport,
        async [Symbol.asyncDispose]() {
          await node.node.stop(0);
          await local.close();
          await hub.transport.close();
          await server[Symbol.asyncDispose]();
        },
      };
    },
  },
];

const sockets = new Set<Socket>();
const tarpit = createServer((socket) => {
  sockets.add(socket.on('error', () => {}));
});
const healthy = createServer((socket) => socket.on('error', () => {}).end());
const portOf = (server: typeof tarpit) => (server.address() as AddressInfo).port;

beforeAll(async () => {
  for (const server of [tarpit, healthy]) await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  for (const server of [tarpit, healthy]) server.close();
});

describe.each(implementations)('on a node behind $name', ({ obstacle, open }) => {
  test.skipIf(obstacle !== null)(
    'two thousand checks of the API that never end make none of the monitor unknown',
    async () => {
      await using opened = await open();
      const runs = createRuns(opened.transport, systemClock);
      const own = { spec: CheckSpec.parse({ type: 'tcp', host: `127.0.0.1:${portOf(healthy)}` }) };
      const all = { kind: 'all' } as const;
      const stop = new AbortController();
      const look = async () => runs.run({ ...own, nodes: all, policy: 'private' }, stop.signal);
      expect((await look()).map(({ outcome }) => outcome.status)).toEqual(['up']);

      const trap = { spec: CheckSpec.parse({ type: 'http', host: `http://127.0.0.1:${portOf(tarpit)}/` }) };
      const foreign = Array.from({ length: tarpits }, async () =>
        runs.run({ ...trap, nodes: all, policy: 'private', origin: 'api' }, stop.signal).catch(() => []),
      );
      await eventually(60_000, () => expect(sockets.size).toBeGreaterThanOrEqual(inFlight / 2));
      for (let round = 0; round < 20; round += 1) {
        const votes = (await Promise.all(Array.from({ length: 10 }, look))).flat();
        expect(votes.map(({ outcome }) => outcome)).toEqual(votes.map(() => expect.objectContaining({ status: 'up' })));
      }
      stop.abort(new Error('enough'));
      await Promise.all(foreign);
    },
  );
});
