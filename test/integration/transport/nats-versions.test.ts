import type { NatsConnection } from '@nats-io/transport-node';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '#kernel/clock.ts';
import { tcpCommand } from '../../support/node-command.ts';
import { natsObstacle, type NatsServer, startNats } from '../../support/nats-server.ts';
import { eventually } from '../../support/program.ts';
import { measured, scriptedNode, startHub, startNode } from '../../support/remote-nodes.ts';
import { signInAs } from '../../support/rogue-node.ts';

const never = new AbortController().signal;
const command = tcpCommand('fine:1');

// Messages of version 1 as that version wrote them, letter by letter: nothing here comes from the present shapes.
const first = {
  report: (phase: string) =>
    `{"protocol":[1,1],"process":"old","version":"0.1.0","capabilities":{"tcp":{"able":true}},"running":0,"queued":0,"lagSeconds":0,"spooled":0,"clockOffsetMs":null,"roundTripMs":null,"phase":"${phase}"}`,
  welcome: (now: number) => `{"protocol":[1,1],"state":"welcome","reason":null,"now":${now}}`,
  command: `{"protocol":[1,1],"ticket":"a.b","spec":{"type":"tcp","host":"fine:1"},"policy":"private","deadlineMs":5000}`,
  accepted: `{"protocol":[1,1],"process":"old","state":"accepted","reason":null}`,
  result: (ticket: string) =>
    `{"protocol":[1,1],"ticket":"${ticket}","process":"old","outcome":{"status":"up","seconds":0.001,"address":"192.0.2.1","phases":{},"facts":{},"detail":{"timed_by":null,"clock_seconds":null,"answer":null,"tls":null}}}`,
  receipt: (ticket: string) => `{"ticket":"${ticket}","state":"stored","reason":null}`,
};

describe.skipIf(natsObstacle() !== null)('hub and node of different versions', () => {
  let server: NatsServer;
  const opened: NatsConnection[] = [];
  const signIn = async (name?: string) => {
    const connection = await signInAs(server, name);
    opened.push(connection);
    return connection;
  };
  beforeAll(async () => {
    server = await startNats({ nodes: ['us1'] });
  });
  afterEach(async () => {
    for (const connection of opened.splice(0)) await connection.close();
  });
  afterAll(async () => server?.[Symbol.asyncDispose]());

  test('a node of the first version serves this hub', async () => {
    await using hub = await startHub(server);
    const node = await signIn('us1');
    node.subscribe('wp.v1.command.us1.old', {
      callback(_, message) {
        const { ticket } = message.json<{ ticket: string }>();
        message.respond(first.accepted);
        node.publish('wp.v1.result.us1', first.result(ticket), { reply: 'wp.v1.inbox.us1.old' });
      },
    });
    const receipts: string[] = [];
    node.subscribe('wp.v1.inbox.us1.old', { callback: (_, message) => void receipts.push(message.string()) });
    const welcome = await node.request('wp.v1.report.us1', first.report('serving'), { timeout: 30_000 });
    expect(welcome.json()).toMatchObject({ state: 'welcome', now: expect.any(Number) });
    const starts: number[] = [];
    expect(await hub.transport.run('us1', command, never, { onStarted: (at) => void starts.push(at) })).toEqual(
      measured,
    );
    expect(starts).toEqual([]);
    await eventually(30_000, () => expect(receipts.map((text) => JSON.parse(text).state)).toEqual(['stored']));
  });

  test('this node serves a hub of the first version', async () => {
    const hub = await signIn();
    hub.subscribe('wp.v1.report.us1', { callback: (_, message) => void message.respond(first.welcome(Date.now())) });
    const results: { readonly ticket: string; readonly outcome: unknown }[] = [];
    hub.subscribe('wp.v1.result.us1', {
      callback(_, message) {
        results.push(message.json());
        message.respond(first.receipt('a.b'));
      },
    });
    await hub.flush();
    await using node = startNode(server, 'us1');
    await eventually(30_000, () => expect(node.node.welcome).toBe(true));
    const subject = `wp.v1.command.us1.${node.node.process}`;
    // The server may hear of the node's subscription after the answer to its report.
    const answer = await eventually(30_000, () => hub.request(subject, first.command, { timeout: 30_000 }));
    expect(answer.json()).toMatchObject({ state: 'accepted' });
    await eventually(30_000, () => expect(results).toMatchObject([{ ticket: 'a.b', outcome: measured }]));
    await eventually(30_000, () => expect(node.spool.size).toBe(0));
  });

  test('a check tells when it began on the node, by the clock of the hub', async () => {
    const aheadMs = 3_600_000;
    const ahead = { ...systemClock, now: () => Date.now() + aheadMs };
    const local = scriptedNode('us1');
    const run: typeof local.run = async (name, asked, signal, listener) => {
      listener?.onStarted?.(ahead.now());
      return local.run(name, asked, signal);
    };
    await using hub = await startHub(server);
    await using _node = startNode(server, 'us1', {
      clock: ahead,
      local: { ...local, run, nodes: () => local.nodes() },
    });
    const before = Date.now();
    const starts: number[] = [];
    expect(await hub.transport.run('us1', command, never, { onStarted: (at) => void starts.push(at) })).toEqual(
      measured,
    );
    // Half a round trip is what the comparison of the clocks may be off.
    const [status] = hub.transport.nodes();
    expect(status?.clockOffsetSeconds).toBeGreaterThan(3_500);
    expect(starts).toHaveLength(1);
    expect(Math.abs((starts[0] ?? 0) - before)).toBeLessThan(60_000);
  });
});
