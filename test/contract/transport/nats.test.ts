import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CheckSpec } from '#checks/index.ts';
import { type NatsServer, natsObstacle, startNats } from '../../support/nats-server.ts';
import { eventually } from '../../support/program.ts';
import { measured, startHub, startNode } from '../../support/remote-nodes.ts';

const obstacle = natsObstacle();
const never = new AbortController().signal;
const command = (host: string, run?: string) => ({
  spec: CheckSpec.parse({ type: 'tcp', host }),
  policy: 'private' as const,
  deadlineMs: 5_000,
  run,
});

describe.skipIf(obstacle !== null)(`nodes on NATS${obstacle === null ? '' : ` (${obstacle})`}`, () => {
  let server: NatsServer;
  beforeAll(async () => {
    server = await startNats({ nodes: ['us1', 'de1', 'jp1'] });
  });
  afterAll(async () => server[Symbol.asyncDispose]());

  test('a node that joins is used at once', async () => {
    await using hub = await startHub(server);
    await using node = startNode(server, 'us1');
    expect(await hub.transport.run('us1', command('fine:1'), never)).toEqual(measured);
    expect(node.local.commands).toHaveLength(1);
    expect(hub.transport.nodes().find(({ info }) => info.name === 'us1')).toMatchObject({ online: true, reason: null });
    await eventually(2_000, () => expect(node.spool.size).toBe(0));
  });
});
