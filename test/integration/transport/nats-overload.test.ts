import type { NatsConnection } from '@nats-io/transport-node';
import { afterEach, describe, expect, test } from 'vitest';
import { nodeTable } from '#cli/nodes/node-table.ts';
import { readJson } from '#kernel/json.ts';
import { CommandMessage, type CommandReply, protocolRange, subjectsOf } from '#protocol/nodes.ts';
import { askStatus } from '#transport/nats/status.ts';
import { tcpCommand } from '../../support/node-command.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { natsObstacle, type NatsServer, startNats } from '../../support/nats-server.ts';
import { eventually } from '../../support/program.ts';
import { measured, quickTimes, startHub, startNode } from '../../support/remote-nodes.ts';
import { report, reportIn, result, signInAs } from '../../support/rogue-node.ts';

const never = new AbortController().signal;
const codes = (
  outcomes: readonly { readonly status: string; readonly failure?: { readonly code: string } | null }[],
) => {
  const counts: Record<string, number> = {};
  for (const { status, failure } of outcomes) {
    const code = failure?.code ?? status;
    counts[code] = (counts[code] ?? 0) + 1;
  }
  return counts;
};

describe.skipIf(natsObstacle() !== null)('a node on NATS that has too much to do', () => {
  const opened: NatsConnection[] = [];
  afterEach(async () => {
    for (const connection of opened.splice(0)) await connection.close();
  });

  /** A node by hand that lets commands lie until it is told otherwise; what it does at the first one it does at once. */
  async function slowNode(server: NatsServer, more: object = {}, atFirst: 'nothing' | 'reply' | 'report' = 'nothing') {
    const connection = await signInAs(server, 'us1');
    opened.push(connection);
    const heard: { readonly id: string }[] = [];
    const reply: CommandReply = { protocol: [...protocolRange], process: 'rogue', state: 'accepted', reason: null };
    connection.subscribe(subjectsOf('us1').command('rogue'), {
      callback: (_, message) => {
        const id = readJson(CommandMessage, message.string())?.ticket ?? '';
        heard.push({ id });
        if (heard.length > 1) return;
        if (atFirst === 'reply') message.respond(JSON.stringify(reply));
        if (atFirst === 'report') void report();
      },
    });
    const report = async () => reportIn(connection, 'us1', more);
    await report();
    return { connection, heard, report };
  }

  const ids = (heard: readonly { readonly id: string }[]) => [...new Set(heard.map(({ id }) => id))];

  test('few commands are on the way at a time, and beyond its capacity a process is busy at once', async () => {
    await using server = await startNats({ nodes: ['us1'] });
    await using hub = await startHub(server, { times: { ...quickTimes, answerMs: 60_000 } });
    const { connection, heard } = await slowNode(server, { capacity: 300 });
    const running = Array.from({ length: 400 }, async () => hub.transport.run('us1', tcpCommand('fine:1'), never));
    expect(codes(await Promise.all(running.slice(300)))).toEqual({ busy: 100 });
    await eventually(30_000, () => expect(ids(heard)).toHaveLength(256));
    const first = ids(heard);
    for (const id of first) connection.publish(subjectsOf('us1').result, result(id));
    await eventually(30_000, () => expect(ids(heard)).toHaveLength(300));
    for (const id of ids(heard)) connection.publish(subjectsOf('us1').result, result(id));
    expect(codes(await Promise.all(running))).toEqual({ up: 300, busy: 100 });
    const next = hub.transport.run('us1', tcpCommand('fine:1'), never);
    await eventually(30_000, () => expect(ids(heard)).toHaveLength(301));
    connection.publish(subjectsOf('us1').result, result(ids(heard).at(-1) ?? ''));
    expect(await next).toEqual(measured);
  });

  test('the capacity that a process tells of is never exceeded, and half of it is not for the API', async () => {
    await using server = await startNats({ nodes: ['us1'] });
    await using hub = await startHub(server, { times: { ...quickTimes, answerMs: 60_000 } });
    const { connection, heard } = await slowNode(server, { capacity: 10 });
    const api = Array.from({ length: 20 }, async () =>
      hub.transport.run('us1', tcpCommand('fine:1', { origin: 'api' }), never),
    );
    await eventually(30_000, () => expect(ids(heard)).toHaveLength(5));
    const own = Array.from({ length: 5 }, async () => hub.transport.run('us1', tcpCommand('fine:1'), never));
    await eventually(30_000, () => expect(ids(heard)).toHaveLength(10));
    expect(await hub.transport.run('us1', tcpCommand('fine:1'), never)).toMatchObject({ failure: { code: 'busy' } });
    for (const id of ids(heard)) connection.publish(subjectsOf('us1').result, result(id));
    expect(codes(await Promise.all(api))).toEqual({ up: 5, busy: 15 });
    expect(codes(await Promise.all(own))).toEqual({ up: 5 });
  });

  test('a node that takes commands late, though it is heard, is slow and not lost', async () => {
    await using server = await startNats({ nodes: ['us1'] });
    const { log, lines } = memoryLog('debug');
    await using hub = await startHub(server, { log, times: { ...quickTimes, answerMs: 1_500 } });
    const { connection, heard } = await slowNode(server, {}, 'report');
    const running = hub.transport.run('us1', tcpCommand('fine:1'), never);
    await eventually(30_000, () => expect(lines.map(({ msg }) => msg)).toContain('node is slow'));
    expect(heard.length).toBeGreaterThanOrEqual(2);
    expect(hub.transport.nodes()[0]).toMatchObject({ online: true });
    connection.publish(subjectsOf('us1').result, result(heard[0]?.id ?? ''));
    expect(await running).toEqual(measured);
  });

  test('a node that is not heard for a moment keeps what it has taken on, and is used again when it is heard', async () => {
    await using server = await startNats({ nodes: ['us1'] });
    await using hub = await startHub(server, { times: { ...quickTimes, answerMs: 1_000 } });
    const { connection, heard, report } = await slowNode(server, {}, 'reply');
    const taken = hub.transport.run('us1', tcpCommand('fine:1'), never);
    await eventually(30_000, () => expect(heard).toHaveLength(1));
    await connection.flush();
    const left = hub.transport.run('us1', tcpCommand('fine:1'), never);
    expect(await left).toMatchObject({ failure: { source: 'node', code: 'gone' } });
    expect(hub.transport.nodes()[0]).toMatchObject({ online: false, reason: 'it took no command within 2 s' });
    connection.publish(subjectsOf('us1').result, result(heard[0]?.id ?? ''));
    expect(await taken).toEqual(measured);
    await report();
    expect(hub.transport.nodes()[0]).toMatchObject({ online: true, reason: null });
  });

  test('five thousand commands at once are done or refused, none is lost, and the node goes on', async () => {
    await using server = await startNats({ nodes: ['us1'] });
    await using hub = await startHub(server, { times: { ...quickTimes, answerMs: 1_500 } });
    await using node = startNode(server, 'us1');
    expect(await hub.transport.run('us1', tcpCommand('fine:1'), never)).toEqual(measured);
    const outcomes = await Promise.all(
      Array.from({ length: 5_000 }, async () => hub.transport.run('us1', tcpCommand('fine:1'), never)),
    );
    const counts = codes(outcomes);
    expect(Object.keys(counts).toSorted()).toEqual(['busy', 'up']);
    expect(counts['up']).toBeGreaterThanOrEqual(1_000);
    expect(hub.transport.nodes()[0]).toMatchObject({ online: true });
    expect(await hub.transport.run('us1', tcpCommand('fine:1'), never)).toEqual(measured);
    await eventually(30_000, () => expect(node.spool.size).toBe(0));
  });

  test('a node that sends more than it may is asked to send the rest later, and another one is heard meanwhile', async () => {
    await using server = await startNats({ nodes: ['us1', 'de1'] });
    const { log, lines } = memoryLog();
    const seen: string[] = [];
    await using _hub = await startHub(
      server,
      { log },
      {
        watching: () => {},
        seen(node, some, confirm) {
          seen.push(...some.map(() => node));
          confirm?.();
        },
      },
    );
    const connection = await signInAs(server, 'us1');
    opened.push(connection);
    await using node = startNode(server, 'de1');
    await eventually(30_000, () => expect(node.node.welcome).toBe(true));
    const states = new Map<string, number>();
    const inbox = `${subjectsOf('us1').inbox}.rogue`;
    connection.subscribe(inbox, {
      callback(_, message) {
        const { state } = message.json<{ state: string }>();
        states.set(state, (states.get(state) ?? 0) + 1);
      },
    });
    const observations = [
      { target: 'shop', revision: 'a', type: 'telepathy', dueAt: 1, startedAt: 1, outcome: 'x'.repeat(60_000) },
    ];
    for (let count = 0; count < 1_500; count += 1) {
      const batch = { kind: 'batch', protocol: [3, 3], ticket: `t${count}`, process: 'rogue', sightings: observations };
      connection.publish(subjectsOf('us1').result, JSON.stringify(batch), { reply: inbox });
      if (count % 50 === 0) await connection.flush();
    }
    await eventually(30_000, () => expect([...states.values()].reduce((sum, count) => sum + count, 0)).toBe(1_500));
    expect(states.get('later')).toBeGreaterThan(100);
    expect(states.get('refused')).toBeGreaterThan(200);
    expect(lines.filter(({ msg }) => msg === 'a node sends more than it may; messages are not read')).toHaveLength(1);
    node.local.see([{ target: 'shop', revision: 'a', dueAt: 1_000, startedAt: 1_000, outcome: measured }]);
    await eventually(30_000, () => expect(node.spool.size).toBe(0));
  });

  test('a key that makes up processes is listed with what it sends too much of', async () => {
    await using server = await startNats({ nodes: ['us1'] });
    await using hub = await startHub(server, { times: quickTimes });
    const rogue = await signInAs(server, 'us1');
    opened.push(rogue);
    const list = async () => {
      const { nodes } = await askStatus(server.account());
      return nodeTable([{ name: 'us1', countryCode: '', country: '', city: '', asn: '', ip: '' }], nodes);
    };
    await reportIn(rogue, 'us1');
    expect([await list(), hub.transport.excess()]).toEqual([expect.stringMatching(/us1 .* online +1\.2\.3/), null]);
    for (let count = 0; count < 90; count += 1)
      rogue.publish(subjectsOf('us1').report, JSON.stringify(report({ process: `made${count}` })));
    await rogue.flush();
    await eventually(30_000, async () => {
      expect(await list()).toContain('online, sends more than 64 processes a minute');
      expect(hub.transport.excess()).toBe('node us1 sends more than 64 processes a minute');
    });
  });
});
