import type { NatsConnection } from '@nats-io/transport-node';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '#kernel/clock.ts';
import { inboxOf, protocolRange, subjectsOf } from '#protocol/nodes.ts';
import { tcpCommand } from '../../support/node-command.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { type NatsServer, natsObstacle, startNats } from '../../support/nats-server.ts';
import { eventually } from '../../support/program.ts';
import { report, result, submit } from '../../support/rogue-node.ts';
import * as rogue from '../../support/rogue-node.ts';
import { measured, memorySpool, quickTimes, startHub, startNode } from '../../support/remote-nodes.ts';

const obstacle = natsObstacle();
const never = new AbortController().signal;
describe.skipIf(obstacle !== null)(`nodes on NATS${obstacle === null ? '' : ` (${obstacle})`}`, () => {
  let server: NatsServer;
  const opened: NatsConnection[] = [];

  beforeAll(async () => {
    server = await startNats({ nodes: ['us1', 'de1', 'jp1'] });
  });
  afterEach(async () => {
    for (const connection of opened.splice(0)) await connection.close();
  });
  afterAll(async () => server[Symbol.asyncDispose]());

  const tracked = (connection: NatsConnection) => (opened.push(connection), connection);
  const signInAs = async (name?: string) => tracked(await rogue.signInAs(server, name));
  const serveByHand = async (name: string) => {
    const served = await rogue.serveByHand(server, name);
    tracked(served.connection);
    return served;
  };

  test('a node that joins is used at once, and tells what it can do and how it is', async () => {
    await using hub = await startHub(server);
    await using node = startNode(server, 'us1');
    expect(await hub.transport.run('us1', tcpCommand('fine:1'), never)).toEqual(measured);
    expect(node.local.commands).toHaveLength(1);
    expect(hub.transport.nodes().find(({ info }) => info.name === 'us1')).toMatchObject({
      online: true,
      reason: null,
      capabilities: { tcp: { able: true }, ping: { able: false, reason: 'no right to send pings' } },
      lagSeconds: 0.002,
      clockOffsetSeconds: expect.closeTo(0, -1),
    });
    await eventually(30_000, () => expect(node.spool.size).toBe(0));
  });

  test('the clock of a node is compared with that of the hub', async () => {
    await using hub = await startHub(server);
    const ahead = { ...systemClock, now: () => Date.now() + 90_000 };
    await using _node = startNode(server, 'us1', { clock: ahead });
    await hub.transport.run('us1', tcpCommand('fine:1'), never);
    const [status] = hub.transport.nodes();
    expect(status?.clockOffsetSeconds).toBeCloseTo(90, -1);
  });

  test('a run on a node that is not connected ends as a node fault at once, also right after it was killed', async () => {
    await using hub = await startHub(server);
    const { connection, next } = await serveByHand('us1');
    const first = hub.transport.run('us1', tcpCommand('fine:1'), never);
    const { ticket } = await next();
    await submit(connection, 'us1', result(ticket));
    expect(await first).toEqual(measured);
    await connection.close();
    expect(await hub.transport.run('us1', tcpCommand('fine:1'), never)).toMatchObject({
      status: 'unknown',
      failure: { source: 'node', code: 'gone', message: 'the node was lost: it is not connected' },
    });
    expect(await hub.transport.run('us1', tcpCommand('fine:1'), never)).toMatchObject({ failure: { code: 'gone' } });
    expect(hub.transport.nodes()[0]).toMatchObject({ online: false, reason: 'it is not connected' });
  });

  test('a node that takes no command any more, though connected, is offline after two tries', async () => {
    await using hub = await startHub(server, { times: { ...quickTimes, answerMs: 200 } });
    const connection = await signInAs('us1');
    let heard = 0;
    connection.subscribe(subjectsOf('us1').command('rogue'), { callback: () => void (heard += 1) });
    await connection.request(subjectsOf('us1').report, JSON.stringify(report()), { timeout: 30_000 });
    expect(await hub.transport.run('us1', tcpCommand('fine:1'), never)).toMatchObject({ failure: { code: 'gone' } });
    expect(heard).toBe(2);
    expect(hub.transport.nodes()[0]).toMatchObject({ online: false, reason: 'it took no command within 0.4 s' });
  });

  test('a node that falls silent is offline after three missed reports, its checks end, and long absence is told once', async () => {
    const clock = new FakeClock();
    await using hub = await startHub(server, { clock, absentAfterMs: 60_000 });
    await eventually(30_000, async () => {
      const { next } = await serveByHand('us1');
      const outcomes: unknown[] = [];
      const running = hub.transport.run('us1', tcpCommand('fine:1'), never).then((outcome) => outcomes.push(outcome));
      await Promise.race([next(), running]);
      await clock.advance(14_000);
      expect(hub.transport.nodes()[0]).toMatchObject({ online: true });
      // A report that was on its way counts from when it is read.
      for (let seconds = 0; seconds < 16 && outcomes.length === 0; seconds += 1) await clock.advance(1_000);
      expect(outcomes).toMatchObject([{ failure: { code: 'gone', message: 'the node stopped reporting' } }]);
    });
    expect(hub.transport.nodes()[0]).toMatchObject({ online: false, reason: 'it has not reported for 15 s' });
    await clock.advance(70_000);
    const told = () => hub.absences.filter(({ node }) => node.name === 'us1');
    await eventually(30_000, async () => {
      await clock.advance(1_000);
      expect(told()).toMatchObject([{ reason: 'it has not reported for 15 s' }]);
    });
    await serveByHand('us1');
    await eventually(30_000, async () => {
      await clock.advance(1_000);
      expect(told()).toMatchObject([{ reason: 'it has not reported for 15 s' }, { reason: null }]);
    });
  });

  test('a hub that was cut off for long gives its nodes time to be heard before it calls them absent', async () => {
    const clock = new FakeClock();
    await using own = await startNats({ nodes: ['us1'] });
    await using hub = await startHub(own, { clock, absentAfterMs: 60_000 });
    await eventually(30_000, () => expect(hub.transport.trouble()).toBeNull());
    await own.stop();
    await eventually(30_000, () => expect(hub.transport.trouble()).toMatch(/NATS/));
    await clock.advance(300_000);
    expect(hub.absences).toEqual([]);
    await own.start();
    await eventually(60_000, async () => {
      await clock.advance(1_000);
      expect(hub.transport.trouble()).toBeNull();
    });
    await clock.advance(30_000);
    expect(hub.absences).toEqual([]);
    await eventually(30_000, async () => {
      await clock.advance(10_000);
      expect(hub.absences).toMatchObject([{ node: { name: 'us1' } }]);
    });
  });

  test('a result has its receipt once its run is stored, and not before', async () => {
    await using hub = await startHub(server);
    const { connection, next } = await serveByHand('us1');
    const stored = hub.transport.run('us1', tcpCommand('fine:1', { run: 'shop/1' }), never);
    let receipt: unknown = null;
    const receipted = submit(connection, 'us1', result((await next()).ticket), 30_000).then((one) => (receipt = one));
    expect(await stored).toEqual(measured);
    const other = hub.transport.run('us1', tcpCommand('fine:1'), never);
    // Whatever the hub has to say about the first result is said before this.
    await submit(connection, 'us1', result((await next()).ticket));
    expect(await other).toEqual(measured);
    expect(receipt).toBe(null);
    hub.transport.stored('shop/1');
    expect(await receipted).toMatchObject({ state: 'stored' });
    expect(hub.late).toEqual([]);
  });

  test('a result that comes after its deadline is late: kept once its round is stored', async () => {
    await using hub = await startHub(server);
    await using node = startNode(server, 'us1', {});
    const { connection, next } = await serveByHand('de1');
    const stop = new AbortController();
    const running = hub.transport.run('de1', tcpCommand('fine:1', { run: 'shop/1' }), stop.signal);
    const { ticket } = await next();
    stop.abort(new Error('deadline'));
    await expect(running).rejects.toThrow('deadline');
    const receipt = submit(connection, 'de1', result(ticket));
    await hub.transport.run('us1', tcpCommand('fine:1', { run: 'shop/1' }), never);
    expect(hub.late).toEqual([]);
    hub.transport.stored('shop/1');
    expect(await receipt).toMatchObject({ state: 'stored' });
    expect(hub.late).toEqual([{ node: 'de1', run: 'shop/1', outcome: measured }]);
    await eventually(30_000, () => expect(node.spool.size).toBe(0));
  });

  test('a result that is handed in twice counts once, and a late one that cannot be kept gets no receipt', async () => {
    let broken = true;
    const kept: string[] = [];
    await using hub = await startHub(server, {
      onLate: async ({ run }) => {
        if (broken) throw new Error('disk full');
        kept.push(run);
      },
    });
    const { connection, next } = await serveByHand('de1');
    const running = hub.transport.run('de1', tcpCommand('fine:1', { run: 'shop/2' }), never);
    const { ticket } = await next();
    const first = submit(connection, 'de1', result(ticket));
    expect(await running).toEqual(measured);
    const repeat = submit(connection, 'de1', result(ticket, { ...measured, seconds: 9 }), 1_000);
    const unanswered = expect(repeat).rejects.toThrow(/timeout/);
    hub.transport.stored('shop/2');
    expect(await first).toMatchObject({ state: 'stored' });
    await expect(submit(connection, 'de1', result(ticket), 1_000)).rejects.toThrow(/timeout/);
    await unanswered;
    broken = false;
    expect(await submit(connection, 'de1', result(ticket))).toMatchObject({ state: 'stored' });
    expect(kept).toEqual(['shop/2']);
  });

  test.each([
    {
      what: 'made up',
      payload: () => result('bm90aGluZw.AAAAAAAAAAAAAAAAAAAAAA'),
      reason: 'it answers no command of this hub',
    },
    {
      what: 'changed in its ticket',
      payload: (ticket: string) => result(`${ticket.slice(0, 20)}A${ticket.slice(21)}`),
      reason: 'it answers no command of this hub',
    },
    { what: 'no JSON', payload: () => '{"ticket":', reason: 'it cannot be read' },
    {
      what: 'oversize',
      payload: (ticket: string) => result(ticket, 'x'.repeat(70_000)),
      reason: 'it is larger than 65536 bytes',
    },
    {
      what: 'no outcome',
      payload: (ticket: string) => result(ticket, { ...measured, seconds: -1 }),
      reason: 'it is no outcome of a tcp check',
    },
    {
      what: 'an outcome of another check',
      payload: (ticket: string) => result(ticket, { ...measured, detail: { hops: 3 } }),
      reason: 'it is no outcome of a tcp check',
    },
  ])('a result that is $what is refused, and the check goes on', async ({ payload, reason }) => {
    await using hub = await startHub(server);
    const { connection, next } = await serveByHand('de1');
    const running = hub.transport.run('de1', tcpCommand('fine:1'), never);
    const { ticket } = await next();
    expect(await submit(connection, 'de1', payload(ticket))).toMatchObject({ state: 'refused', reason });
    await submit(connection, 'de1', result(ticket));
    expect(await running).toEqual(measured);
  });

  test("a node cannot hand in another node's result, nor say more about a failure than whose it is", async () => {
    await using hub = await startHub(server);
    const { connection, next } = await serveByHand('de1');
    const thief = await signInAs('jp1');
    const running = hub.transport.run('de1', tcpCommand('fine:1'), never);
    const { ticket } = await next();
    expect(await submit(thief, 'jp1', result(ticket))).toMatchObject({
      state: 'refused',
      reason: 'it answers a command to another node',
    });
    const failure = { source: 'node', code: 'local', message: 'a\u001b[31m\nb' };
    await submit(connection, 'de1', result(ticket, { ...measured, status: 'down', detail: null, failure }));
    expect(await running).toMatchObject({ status: 'unknown', failure: { message: 'a [31m b' } });
  });

  test('the server lets a node use its own subjects only', async () => {
    await using _hub = await startHub(server);
    const stranger = await signInAs('jp1');
    const forged = stranger.request(subjectsOf('de1').result, result('x'), { timeout: 30_000 });
    await expect(forged).rejects.toThrow(/Permissions Violation/);
    await expect(stranger.request('wp.v1.status', '', { timeout: 30_000 })).rejects.toThrow(/Permissions Violation/);
    await expect(stranger.request(subjectsOf('de1').command('a'), '{}', { timeout: 30_000 })).rejects.toThrow(
      /Permissions Violation/,
    );
    for (const subject of [
      subjectsOf('de1').command('*'),
      `${inboxOf('hub')}.>`,
      `${inboxOf('de1')}.>`,
      'wp.v1.>',
      '>',
    ]) {
      const denied = new Promise((resolve) => stranger.subscribe(subject, { callback: (error) => resolve(error) }));
      expect(await denied).toMatchObject({ name: 'PermissionViolationError' });
    }
  });

  test.each([
    {
      protocol: [0, 0] as [number, number],
      reason: /^watchpost 1\.2\.3 on it is too old: it speaks protocol 0 to 0.*; update it$/,
    },
    {
      protocol: [5, 6] as [number, number],
      reason: /^watchpost 1\.2\.3 on it is too new: it speaks protocol 5 to 6.*; update this side$/,
    },
  ])('a node that speaks protocol $protocol is listed with the reason and not used', async ({ protocol, reason }) => {
    await using hub = await startHub(server);
    const connection = await signInAs('us1');
    const answer = await connection.request(subjectsOf('us1').report, JSON.stringify(report({ protocol })), {
      timeout: 30_000,
    });
    expect(answer.json()).toMatchObject({ state: 'outdated', reason: expect.stringContaining('it speaks protocol') });
    expect(hub.transport.nodes()[0]).toMatchObject({ online: false, reason: expect.stringMatching(reason) });
    expect(await hub.transport.run('us1', tcpCommand('fine:1'), never)).toMatchObject({ failure: { code: 'gone' } });
  });

  test('a hub cannot pass for a node, nor a node for a hub, also of several', async () => {
    const [hub, node] = [await signInAs(), await signInAs('us1')];
    const { report, result, resultFor } = subjectsOf('us1');
    for (const subject of [report, result, resultFor('b')])
      await expect(hub.request(subject, '', { timeout: 30_000 })).rejects.toThrow(/Permissions Violation/);
    const ofHubs = ['wp.v1.hubs.log', 'wp.v1.hubs.status', 'wp.v1.hubs.check.x', 'wp.v1.hubs.granted', 'wp.v1.hub'];
    for (const subject of [...ofHubs, subjectsOf('de1').resultFor('b'), '$JS.API.STREAM.MSG.GET.WP_LOG'])
      await expect(node.request(subject, '', { timeout: 30_000 })).rejects.toThrow(/Permissions Violation/);
    const heard = node.subscribe('wp.v1.hubs.>', { callback: () => {} });
    await expect(heard.closed).resolves.toMatchObject({ name: 'PermissionViolationError' });
  });

  test('a node refuses a command of a protocol, or a check, that it does not know', async () => {
    await using _hub = await startHub(server);
    await using node = startNode(server, 'us1');
    await eventually(30_000, () => expect(node.node.welcome).toBe(true));
    const hub = await signInAs();
    const ask = async (value: object) => {
      const base = { protocol: protocolRange, ticket: 'a.b', spec: {}, policy: 'private', deadlineMs: 5_000 };
      const message = await hub.request(
        subjectsOf('us1').command(node.node.process),
        JSON.stringify({ ...base, ...value }),
        {
          timeout: 30_000,
        },
      );
      return message.json();
    };
    expect(await ask({ protocol: [5, 5] })).toMatchObject({
      state: 'unsupported',
      reason: expect.stringMatching(/^the hub is too new/),
    });
    expect(await ask({ spec: { type: 'gopher' } })).toMatchObject({
      state: 'unsupported',
      reason: expect.stringMatching(/does not understand/),
    });
    expect(await ask({ spec: { type: 'ping', host: '192.0.2.1' } })).toMatchObject({
      state: 'unsupported',
      reason: 'no right to send pings',
    });
    expect(node.local.commands).toEqual([]);
  });

  test('a command that comes twice is done once, and its result sent again', async () => {
    await using hub = await startHub(server);
    await using node = startNode(server, 'us1');
    const running = hub.transport.run('us1', tcpCommand('hangs:1', { run: 'shop/3' }), never);
    await eventually(30_000, () => expect(node.local.commands).toHaveLength(1));
    const second = await signInAs();
    const results: string[] = [];
    second.subscribe(subjectsOf('us1').result, {
      callback: (_, message) => void results.push(message.json<{ ticket: string }>().ticket),
    });
    await second.flush();
    node.local.finish();
    await running;
    await eventually(30_000, () => expect(results).toHaveLength(1));
    const repeated = {
      protocol: protocolRange,
      ticket: results[0],
      spec: { type: 'tcp', host: 'hangs:1' },
      policy: 'private',
      deadlineMs: 5_000,
    };
    const answer = await second.request(subjectsOf('us1').command(node.node.process), JSON.stringify(repeated), {
      timeout: 30_000,
    });
    expect(answer.json()).toMatchObject({ state: 'accepted' });
    await eventually(30_000, () => expect(results).toHaveLength(2));
    expect(node.local.commands).toHaveLength(1);
  });

  test('a node that has enough to do says so', async () => {
    await using hub = await startHub(server);
    await using node = startNode(server, 'us1', { limit: 1 });
    const first = hub.transport.run('us1', tcpCommand('hangs:1'), never);
    await eventually(30_000, () => expect(node.local.commands).toHaveLength(1));
    expect(await hub.transport.run('us1', tcpCommand('fine:1'), never)).toMatchObject({
      status: 'unknown',
      failure: { source: 'node', code: 'busy' },
    });
    node.local.finish();
    await first;
  });

  test('an outcome that is too large for a message becomes a node fault', async () => {
    await using hub = await startHub(server);
    await using _node = startNode(server, 'us1');
    expect(await hub.transport.run('us1', tcpCommand('speaks-long:1'), never)).toMatchObject({
      failure: { source: 'node', code: 'internal', message: 'the outcome takes more than 65536 bytes' },
    });
  });

  test('the processes of one node share its commands, and one that is left carries on', async () => {
    await using hub = await startHub(server);
    await using first = startNode(server, 'us1');
    const second = startNode(server, 'us1');
    await eventually(30_000, () => expect([first.node.welcome, second.node.welcome]).toEqual([true, true]));
    for (let count = 0; count < 40; count += 1) await hub.transport.run('us1', tcpCommand('fine:1'), never);
    expect(first.local.commands.length + second.local.commands.length).toBe(40);
    expect(Math.min(first.local.commands.length, second.local.commands.length)).toBeGreaterThan(3);
    await second.node.stop(0);
    expect(hub.transport.nodes()[0]).toMatchObject({ online: true });
    for (let count = 0; count < 5; count += 1)
      expect(await hub.transport.run('us1', tcpCommand('fine:1'), never)).toEqual(measured);
  });

  test('a node that stops lets running checks finish, says goodbye and is offline at once', async () => {
    await using hub = await startHub(server);
    const { node, local } = startNode(server, 'us1');
    const running = hub.transport.run('us1', tcpCommand('hangs:1'), never);
    await eventually(30_000, () => expect(local.commands).toHaveLength(1));
    const stopping = node.stop(5_000);
    local.finish();
    expect(await running).toEqual(measured);
    await stopping;
    expect(hub.transport.nodes()[0]).toMatchObject({ online: false, reason: 'it was stopped' });
  });

  test('a hub that is killed in mid-check gets the result as a late one when it is back', async () => {
    const first = await startHub(server);
    await using node = startNode(server, 'us1');
    const running = first.transport.run('us1', tcpCommand('hangs:1', { run: 'shop/4' }), never);
    await eventually(30_000, () => expect(node.local.commands).toHaveLength(1));
    await first.transport.close();
    await running;
    node.local.finish();
    await eventually(30_000, () => expect(node.spool.size).toBe(1));
    await using second = await startHub(server);
    await eventually(30_000, () => expect(second.late).toEqual([{ node: 'us1', run: 'shop/4', outcome: measured }]));
    await eventually(30_000, () => expect(node.spool.size).toBe(0));
    expect(await second.transport.run('us1', tcpCommand('fine:1'), never)).toEqual(measured);
  });

  test('a spool that overflows gives up the oldest results, and the others come in order at replay', async () => {
    const spool = memorySpool(3);
    const first = await startHub(server);
    const node = startNode(server, 'us1', { spool });
    const running = ['a', 'b', 'c', 'd', 'e'].map((name) =>
      first.transport.run('us1', tcpCommand('hangs:1', { run: `${name}/1` }), never),
    );
    await eventually(30_000, () => expect(node.local.commands).toHaveLength(5));
    await first.transport.close();
    await Promise.all(running);
    node.local.finish();
    await eventually(30_000, () => expect(spool.size + spool.dropped).toBe(5));
    await using second = await startHub(server);
    await eventually(30_000, () => expect(second.late.map(({ run }) => run)).toEqual(['c/1', 'd/1', 'e/1']));
    expect(spool.dropped).toBe(2);
    await node.node.stop(0);
  });
});
