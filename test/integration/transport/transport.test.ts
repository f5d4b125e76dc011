import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CheckSpec, type Policy } from '#checks/index.ts';
import { systemClock } from '#kernel/clock.ts';
import type { Transport } from '#service/ports.ts';
import { joinTransports } from '#service/runs.ts';
import type { AssignedTarget, Observation } from '#protocol/watching.ts';
import { createThreadTransport, type ThreadTransport } from '#transport/thread.ts';
import { tcpCommand } from '../../support/node-command.ts';
import { type NatsServer, natsObstacle, startNats } from '../../support/nats-server.ts';
import { eventually } from '../../support/program.ts';
import { quiet, startHub, startNode } from '../../support/remote-nodes.ts';
import { tcpServer } from '../../support/tcp-servers.ts';
import { agentOptions, misbehavingModule, realModule } from '../../support/thread-nodes.ts';
import { nodeInfo } from '../../support/votes.ts';

const never = new AbortController().signal;
interface Opened extends AsyncDisposable {
  readonly transport: Transport;
}

interface Scripted extends Opened {
  /** Commands that got to the node. */
  readonly heard: () => number;
  /** Commands that were given up by the hub, as the node heard. */
  readonly aborted: () => number;
  /** Ends the node in the middle of what it does. */
  readonly end: () => void;
}

interface Implementation {
  readonly name: string;
  readonly obstacle: string | null;
  /** The node de1 with a real agent. */
  readonly real: (policy: Policy) => Promise<Opened>;
  /** The node de1 that does as the host of a check says. */
  readonly scripted: () => Promise<Scripted>;
}

function realThread(policy: Policy): ThreadTransport {
  const options = { ...agentOptions, policy };
  return createThreadTransport({
    nodes: [{ info: nodeInfo('de1'), options }],
    module: realModule,
    clock: systemClock,
    log: quiet,
  });
}

const threads: Implementation = {
  name: 'threads',
  obstacle: null,
  async real(policy) {
    const transport = realThread(policy);
    return { transport, [Symbol.asyncDispose]: () => transport.close() };
  },
  async scripted() {
    const shared = new SharedArrayBuffer(16);
    const options = { ...agentOptions, starts: shared };
    const transport = createThreadTransport({
      nodes: [{ info: nodeInfo('de1'), options }],
      module: misbehavingModule,
      clock: systemClock,
      log: quiet,
    });
    return {
      transport,
      heard: () => Atomics.load(new Int32Array(shared), 2),
      aborted: () => Atomics.load(new Int32Array(shared), 1),
      end: () => void transport.run('de1', tcpCommand('dies:1'), never),
      [Symbol.asyncDispose]: () => transport.close(),
    };
  },
};

let server: NatsServer;
const nats: Implementation = {
  name: 'NATS',
  obstacle: natsObstacle(),
  async real(policy) {
    const hub = await startHub(server);
    const local = realThread(policy);
    await eventually(30_000, () => expect(local.nodes()[0]).toMatchObject({ online: true }));
    const node = startNode(server, 'de1', { local });
    return {
      transport: hub.transport,
      async [Symbol.asyncDispose]() {
        await node.node.stop(0);
        await local.close();
        await hub.transport.close();
      },
    };
  },
  async scripted() {
    const hub = await startHub(server);
    const { node, local } = startNode(server, 'de1');
    return {
      transport: hub.transport,
      heard: () => local.commands.length,
      aborted: () => local.aborted,
      end: () => void node.stop(0),
      async [Symbol.asyncDispose]() {
        await node.stop(0);
        await hub.transport.close();
      },
    };
  },
};

const joined: Implementation = {
  ...threads,
  name: 'several transports as one',
  async scripted() {
    const opened = await threads.scripted();
    const other = createThreadTransport({
      nodes: [{ info: nodeInfo('us1'), options: agentOptions }],
      module: realModule,
      clock: systemClock,
      log: quiet,
    });
    const transport = joinTransports([other], opened.transport);
    return { ...opened, transport, [Symbol.asyncDispose]: () => transport.close() };
  },
};

beforeAll(async () => {
  if (nats.obstacle === null) server = await startNats({ nodes: ['de1'] });
});
afterAll(async () => server?.[Symbol.asyncDispose]());

describe.each([threads, nats, joined])('nodes reached through $name', ({ obstacle, real, scripted }) => {
  test.skipIf(obstacle !== null)('a real node measures a real server and says what it can do', async () => {
    await using opened = await real('private');
    const { transport } = opened;
    const listener = createServer((socket) => socket.end()).listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const { port } = listener.address() as { port: number };
    const outcome = await transport.run('de1', tcpCommand(`127.0.0.1:${port}`), never);
    expect(outcome).toMatchObject({ status: 'up', address: '127.0.0.1' });
    expect(outcome.seconds).toBeGreaterThan(0);
    const status = transport.nodes().find(({ info }) => info.name === 'de1');
    expect(status).toMatchObject({ online: true, reason: null, capabilities: { tcp: { able: true } } });
    listener.close();
    await once(listener, 'close');
    expect(await transport.run('de1', tcpCommand(`127.0.0.1:${port}`), never)).toMatchObject({
      status: 'down',
      failure: { source: 'target', code: 'refused' },
    });
  });

  test.skipIf(obstacle !== null)('a real node gathers evidence about a real server', async () => {
    await using opened = await real('private');
    const { transport } = opened;
    await using server = await tcpServer((socket) => socket.write('220 '));
    const of = { type: 'tcp', host: server.host, expect: 'hello', timeout: '300ms' };
    const spec = CheckSpec.parse({ type: 'evidence', host: of.host, of, failure: 'answer' });
    const command = { spec, policy: 'private' as const, deadlineMs: 10_000 };
    const outcome = await transport.run('de1', command, never);
    expect(outcome).toMatchObject({
      status: 'up',
      detail: {
        path: { end: 'reached', protocol: 'tcp', port: server.port },
        received: { bytes: 4, text: '220 ', isSilent: true },
      },
    });
    const status = transport.nodes().find(({ info }) => info.name === 'de1');
    expect(status?.capabilities.evidence).toEqual({ able: true });
  });

  test.skipIf(obstacle !== null)('what a command may reach is narrowed by the node, never widened', async () => {
    await using opened = await real('public');
    expect(await opened.transport.run('de1', tcpCommand('127.0.0.1:9'), never)).toMatchObject({
      status: 'unknown',
      failure: { source: 'node', code: 'forbidden' },
    });
  });

  test.skipIf(obstacle !== null)('a node that is not there is a node fault', async () => {
    await using opened = await scripted();
    expect(await opened.transport.run('fr9', tcpCommand('fine:1'), never)).toMatchObject({
      status: 'unknown',
      failure: { source: 'node', code: 'gone', message: 'there is no node "fr9"' },
    });
  });

  test.skipIf(obstacle !== null)('a node that ends in mid-check ends its checks as node faults', async () => {
    await using opened = await scripted();
    const { transport, heard, end } = opened;
    expect(await transport.run('de1', tcpCommand('fine:1'), never)).toMatchObject({ status: 'up' });
    const silent = transport.run('de1', tcpCommand('is-silent:1'), never);
    await eventually(30_000, () => expect(heard()).toBe(2));
    end();
    expect(await silent).toMatchObject({ status: 'unknown', failure: { source: 'node', code: 'gone' } });
    expect(transport.nodes().find(({ info }) => info.name === 'de1')).toMatchObject({ online: false });
  });

  test.skipIf(obstacle !== null)('a caller that gives up gets the reason, and the node hears of it', async () => {
    await using opened = await scripted();
    const { transport, heard, aborted } = opened;
    await transport.run('de1', tcpCommand('fine:1'), never);
    const stop = new AbortController();
    const running = transport.run('de1', tcpCommand('is-silent:1'), stop.signal);
    const rejected = expect(running).rejects.toThrow('enough');
    await eventually(30_000, () => expect(heard()).toBe(2));
    stop.abort(new Error('enough'));
    await rejected;
    await eventually(30_000, () => expect(aborted()).toBe(1));
  });

  test.skipIf(obstacle !== null)('a node watches what it is assigned by itself, and tells since when', async () => {
    await using opened = await real('private');
    const { transport } = opened;
    const since: number[] = [];
    const observations: Observation[] = [];
    const settled: number[] = [];
    transport.listen({
      watching: (_, __, moment) => void since.push(moment),
      seen(node, seen, settle) {
        if (node === 'de1') observations.push(...seen);
        settle?.();
        settled.push(seen.length);
      },
    });
    const target: AssignedTarget = {
      name: 'shop',
      revision: 'one',
      schedule: { kind: 'every', everyMs: 1_000 },
      spec: CheckSpec.parse({ type: 'tcp', host: '127.0.0.1:1' }),
      policy: 'private',
      deadlineMs: 5_000,
    };
    transport.assign('de1', { number: 1, targets: [target] });
    await eventually(30_000, () => expect(observations.length).toBeGreaterThanOrEqual(2));
    expect(transport.nodes().find(({ info }) => info.name === 'de1')?.keepsTime).toBe(true);
    expect(observations[0]).toMatchObject({ target: 'shop', revision: 'one', outcome: { status: 'down' } });
    expect(observations[1]!.dueAt - observations[0]!.dueAt).toBe(1_000);
    await eventually(30_000, () => expect(since.length).toBeGreaterThan(0));
    expect(observations[0]!.dueAt).toBeGreaterThan(since[0]!);
  });

  test.skipIf(obstacle !== null)('a caller that has given up before asks nothing', async () => {
    await using opened = await scripted();
    const given = AbortSignal.abort(new Error('enough'));
    await expect(opened.transport.run('de1', tcpCommand('fine:1'), given)).rejects.toThrow('enough');
  });
});

test('of two transports with a node of the same name the first has it', async () => {
  const transport = joinTransports([realThread('private')], realThread('private'));
  expect(transport.nodes()).toHaveLength(1);
  await transport.close();
});
