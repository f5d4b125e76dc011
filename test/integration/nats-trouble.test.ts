import { createServer } from 'node:net';
import { once } from 'node:events';
import type { NatsConnection } from '@nats-io/transport-node';
import { describe, expect, test } from 'vitest';
import { systemClock } from '#kernel/clock.ts';
import { systemRandom } from '#kernel/random.ts';
import { subjectsOf } from '#protocol/nodes.ts';
import { keepConnected } from '#transport/nats/connection.ts';
import { tcpCommand } from '../support/node-command.ts';
import { memoryLog } from '../support/memory-log.ts';
import { natsObstacle, startNats } from '../support/nats-server.ts';
import { eventually } from '../support/program.ts';
import { measured, quickTimes, quiet, startHub, startNode } from '../support/remote-nodes.ts';
import { startRelay } from '../support/relay.ts';

const obstacle = natsObstacle();
const never = new AbortController().signal;
// Each test has a server of its own, and waits for the most part.
const title = `trouble with NATS${obstacle === null ? '' : ` (${obstacle})`}`;
describe.skipIf(obstacle !== null)(title, { concurrent: true }, () => {
  test('NATS that is killed in mid-check costs no result where it is back in time', async () => {
    await using server = await startNats({ nodes: ['us1'] });
    await using hub = await startHub(server);
    await using node = startNode(server, 'us1');
    const running = hub.transport.run('us1', tcpCommand('hangs:1'), never);
    await eventually(30_000, () => expect(node.local.commands).toHaveLength(1));
    await server.stop();
    const reason = 'the hub has no connection to NATS';
    await eventually(30_000, () => expect(hub.transport.nodes()[0]).toMatchObject({ online: false, reason }));
    // Operators hear of more.
    await eventually(30_000, () => expect(hub.transport.trouble()).toMatch(/^NATS cannot be reached: .*ECONNREFUSED/));
    expect(hub.transport.nodes()[0]).toMatchObject({ reason });
    node.local.finish();
    await server.start();
    expect(await running).toEqual(measured);
    await eventually(30_000, () => expect(node.spool.size).toBe(0));
    expect(await hub.transport.run('us1', tcpCommand('fine:1'), never)).toEqual(measured);
  });

  test('a revoked node is cut at once, others are not, and it knows after a while', async () => {
    await using server = await startNats({ nodes: ['us1', 'de1'] });
    await using hub = await startHub(server);
    await using us1 = startNode(server, 'us1', { refusedMs: 300 });
    await using _de1 = startNode(server, 'de1');
    await hub.transport.run('us1', tcpCommand('fine:1'), never);
    server.revoke('us1');
    hub.list('de1');
    await eventually(30_000, () => expect(us1.node.welcome).toBe(false));
    await eventually(30_000, () => expect(hub.transport.nodes().map(({ info }) => info.name)).toEqual(['de1']));
    expect(await us1.node.revoked).toBe('the NATS server refuses its key');
    expect(await hub.transport.run('us1', tcpCommand('fine:1'), never)).toMatchObject({
      failure: { message: 'there is no node "us1"' },
    });
    expect(await hub.transport.run('de1', tcpCommand('fine:1'), never)).toEqual(measured);
  });

  test('a node that was refused by mistake comes back by itself', async () => {
    await using server = await startNats({ nodes: ['us1'] });
    await using hub = await startHub(server);
    const account = server.account('us1');
    const keys = server.nodes.get('us1');
    server.revoke('us1');
    const { log, lines } = memoryLog();
    await using node = startNode(server, 'us1', { account, log });
    await eventually(30_000, () =>
      expect(lines.map(({ reason }) => reason)).toContainEqual(expect.stringMatching(/refuses this key/)),
    );
    server.enrol(['us1', keys!]);
    await eventually(30_000, () => expect(node.node.welcome).toBe(true));
    expect(await hub.transport.run('us1', tcpCommand('fine:1'), never)).toEqual(measured);
  });

  test('a node that the hub does not list is a stranger until it does', async () => {
    await using server = await startNats({ nodes: ['us1'] });
    await using hub = await startHub(server);
    hub.list();
    await eventually(30_000, () => expect(hub.transport.nodes()).toEqual([]));
    await using node = startNode(server, 'us1', { refusedMs: 0 });
    expect(await node.node.revoked).toBe('no node "us1" is enrolled at this hub');
    hub.list('us1');
    await eventually(30_000, () => expect(node.node.welcome).toBe(true));
  });

  test('a link that swallows everything is noticed on both sides, and its results arrive when it is mended', async () => {
    await using server = await startNats({ nodes: ['us1'] });
    await using relay = await startRelay(server.port);
    await using hub = await startHub(server);
    const account = { ...server.account('us1'), servers: [`nats://127.0.0.1:${relay.port}`] };
    await using node = startNode(server, 'us1', { account });
    const stop = new AbortController();
    const running = hub.transport.run('us1', tcpCommand('hangs:1', { run: 'shop/5' }), stop.signal);
    await eventually(30_000, () => expect(node.local.commands).toHaveLength(1));
    relay.swallow();
    node.local.finish();
    await eventually(30_000, () => expect(node.node.welcome).toBe(false));
    expect(await hub.transport.run('us1', tcpCommand('fine:1'), never)).toMatchObject({
      failure: { source: 'node', code: 'gone' },
    });
    expect(await running).toMatchObject({ failure: { source: 'node', code: 'gone' } });
    hub.transport.stored('shop/5');
    expect(node.spool.size).toBe(1);
    relay.mend();
    await eventually(30_000, () => expect(hub.late).toEqual([{ node: 'us1', run: 'shop/5', outcome: measured }]));
    expect(await hub.transport.run('us1', tcpCommand('fine:1'), never)).toEqual(measured);
  });

  test('a dead link that takes no more bytes is given up all the same', async () => {
    await using server = await startNats({ nodes: ['us1'] });
    await using relay = await startRelay(server.port);
    const account = { ...server.account('us1'), servers: [`nats://127.0.0.1:${relay.port}`] };
    const made: NatsConnection[] = [];
    const connection = keepConnected({
      account,
      times: { ...quickTimes, pingEveryMs: 500 },
      clock: systemClock,
      random: systemRandom,
      log: quiet,
      onUp: (up) => void made.push(up),
      onDown: () => {},
      onRefused: () => {},
    });
    await eventually(30_000, () => expect(made).toHaveLength(1));
    relay.hold();
    const much = 'x'.repeat(200_000);
    for (let count = 0; count < 200; count += 1) made[0]?.publish(subjectsOf('us1').result, much);
    await eventually(30_000, () => expect(made).toHaveLength(2));
    await connection.close();
  });

  test('a server that nobody reaches is tried for ever, until the node is stopped', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as { port: number };
    await using server = await startNats({ nodes: ['us1'] });
    const account = { ...server.account('us1'), servers: [`nats://127.0.0.1:${port}`] };
    const { log, lines } = memoryLog();
    const { node } = startNode(server, 'us1', { account, log });
    await eventually(30_000, () =>
      expect(lines.filter(({ reason }) => /cannot be reached/.test(String(reason))).length).toBeGreaterThan(1),
    );
    await node.stop(5_000);
    silent.close();
  });
});
