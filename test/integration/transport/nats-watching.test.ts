import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NatsConnection } from '@nats-io/transport-node';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { CheckSpec } from '#checks/index.ts';
import { systemClock } from '#kernel/clock.ts';
import { openSpool } from '#node/spool.ts';
import { type Report, subjectsOf } from '#protocol/nodes.ts';
import type { AssignMessage, AssignedTarget, Observation } from '#protocol/watching.ts';
import { natsObstacle, type NatsServer, startNats } from '../../support/nats-server.ts';
import { eventually } from '../../support/program.ts';
import { measured, memorySpool, quiet, startHub, startNode, type TestNode } from '../../support/remote-nodes.ts';
import { report, reportIn, signInAs } from '../../support/rogue-node.ts';

const target = (name: string, changes: Partial<AssignedTarget> = {}): AssignedTarget => ({
  name,
  revision: 'one',
  schedule: { kind: 'every', everyMs: 60_000 },
  spec: CheckSpec.parse({ type: 'tcp', host: `${name}.example.com:443` }),
  policy: 'private',
  deadlineMs: 5_000,
  ...changes,
});

const observation = (name: string, dueAt: number): Observation => ({
  target: name,
  revision: 'one',
  dueAt,
  outcome: measured,
  startedAt: dueAt,
});

/** A hub, and what it hears; what it is told is settled at once, or when the test does so. */
async function startListening(server: NatsServer, settles = true) {
  const since: number[] = [];
  const observations: Observation[] = [];
  const settle: (() => void)[] = [];
  const hub = await startHub(
    server,
    {},
    {
      watching: (_, __, moment) => void since.push(moment),
      seen(_, seen, settled) {
        observations.push(...seen);
        if (settles) settled?.();
        else if (settled !== null) settle.push(settled);
      },
    },
  );
  return { hub, since, observations, settle, [Symbol.asyncDispose]: () => hub[Symbol.asyncDispose]() };
}

const namesOf = ({ local }: TestNode) => local.assignments.at(-1)?.targets.map(({ name }) => name) ?? null;

describe.skipIf(natsObstacle() !== null)('what nodes on NATS watch by themselves', () => {
  let server: NatsServer;
  const opened: NatsConnection[] = [];
  const folder = mkdtempSync(join(tmpdir(), 'watchpost-watching-'));
  const signIn = async (name?: string) => {
    const connection = await signInAs(server, name);
    opened.push(connection);
    return connection;
  };
  beforeAll(async () => {
    server = await startNats({ nodes: ['us1', 'de1'] });
  });
  afterEach(async () => {
    for (const connection of opened.splice(0)) await connection.close();
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true });
    await server?.[Symbol.asyncDispose]();
  });

  test('an assignment that takes many messages arrives whole, in order, as it was', async () => {
    await using listening = await startListening(server);
    const { hub, since } = listening;
    await using node = startNode(server, 'us1');
    const targets = Array.from({ length: 2_000 }, (_, index) => target(`t${index}`));
    hub.transport.assign('us1', { number: 1, targets });
    await eventually(30_000, () => expect(since).not.toEqual([]));
    expect(node.local.assignments.at(-1)).toEqual({ number: 1, targets });
  });

  test('a change is told as what is other, and the node watches what it should, also after another restart of the hub', async () => {
    const told: AssignMessage[] = [];
    const listener = await signIn();
    listener.subscribe(subjectsOf('us1').command('*'), {
      callback: (_, message) => void told.push(message.json<AssignMessage>()),
    });
    await listener.flush();
    const targets = Array.from({ length: 500 }, (_, index) => target(`t${index}`));
    const changed = [...targets.slice(2), target('t1', { revision: 'two' }), target('new')];
    await using node = startNode(server, 'us1');
    const isWatching = (wanted: readonly AssignedTarget[]) =>
      eventually(30_000, () => {
        const names = (all: readonly AssignedTarget[] = []) =>
          all.map((one) => `${one.name} ${one.revision}`).toSorted();
        expect(names(node.local.assignments.at(-1)?.targets)).toEqual(names(wanted));
      });
    {
      await using listening = await startListening(server);
      const { hub, since } = listening;
      hub.transport.assign('us1', { number: 1, targets });
      await eventually(30_000, () => expect(since).not.toEqual([]));
      told.length = 0;
      hub.transport.assign('us1', { number: 2, targets: changed });
      await isWatching(changed);
      // A node that is busy is told again what it did not answer in time.
      const differing = [...new Map(told.map((one) => [JSON.stringify(one), one])).values()];
      expect(differing).toMatchObject([
        { number: 2, base: 1, targets: [], removed: ['t0'] },
        { number: 2, base: 1, targets: [{ name: 't1', revision: 'two' }, { name: 'new' }] },
      ]);
    }
    told.length = 0;
    await using listening = await startListening(server);
    listening.hub.transport.assign('us1', { number: 3, targets });
    await isWatching(targets);
    expect(told.every(({ base }) => base === undefined)).toBe(true);
  });

  test('a node takes no change of what it does not watch, and a node that takes none is told the whole', async () => {
    await using hub = await startHub(server);
    const rogue = await signIn('us1');
    const told: AssignMessage[] = [];
    rogue.subscribe(subjectsOf('us1').command('rogue'), {
      callback(_, message) {
        told.push(message.json<AssignMessage>());
        message.respond(JSON.stringify({ protocol: [1, 3], process: 'rogue', state: 'accepted', reason: null }));
      },
    });
    const targets = [target('shop'), target('blog'), target('mail')];
    const toldAfter = async (watching: Report['watching']) => {
      told.length = 0;
      await eventually(30_000, async () => {
        await reportIn(rogue, 'us1', { watching });
        expect(told).not.toEqual([]);
      });
      return told[0];
    };
    hub.transport.assign('us1', { number: 1, targets });
    const { epoch = '' } = (await toldAfter(null)) ?? {};
    const watching = { epoch, number: 1, targets: 3, since: 1 };
    await reportIn(rogue, 'us1', { watching });
    hub.transport.assign('us1', { number: 2, targets: targets.slice(1) });
    const whole = await toldAfter(watching);
    expect(whole).toMatchObject({ number: 2, targets: [{ name: 'blog' }, { name: 'mail' }] });
    expect(whole).not.toHaveProperty('base');
    expect(await toldAfter({ ...watching, targets: 2, takesChanges: true })).not.toHaveProperty('base');
    const change = await toldAfter({ ...watching, takesChanges: true });
    expect(change).toMatchObject({ number: 2, base: 1, targets: [], removed: ['shop'] });
    await rogue.close();
    await using node = startNode(server, 'us1');
    await eventually(30_000, () => expect(namesOf(node)).toEqual(['blog', 'mail']));
    const part = {
      protocol: [3, 3],
      epoch,
      number: 3,
      base: 1,
      part: { index: 0, of: 1 },
      targets: [],
      removed: ['mail'],
    };
    const asHub = await signIn();
    const subject = subjectsOf('us1').command(node.node.process);
    const answer = await asHub.request(subject, JSON.stringify(part), { timeout: 30_000 });
    expect(answer.json()).toMatchObject({ state: 'unsupported', reason: 'this node does not watch what this changes' });
    expect(namesOf(node)).toEqual(['blog', 'mail']);
  });

  test('a node goes on without a hub, over its own restart, and hands in what it saw when a hub is back', async () => {
    const openFile = () =>
      openSpool({ path: join(folder, 'spool.db'), longestMs: 86_400_000, most: 1_000, clock: systemClock, log: quiet });
    const seen = Array.from({ length: 300 }, (_, index) => observation('shop', 1_000 * index));
    {
      await using listening = await startListening(server);
      const { hub, since } = listening;
      const spool = openFile();
      const node = startNode(server, 'us1', { spool });
      hub.transport.assign('us1', { number: 4, targets: [target('shop'), target('blog')] });
      await eventually(30_000, () => expect(since).not.toEqual([]));
      await hub.transport.close();
      node.local.see(seen.slice(0, 100));
      await node.node.stop(0);
      spool.close();
    }
    const spool = openFile();
    expect(spool.size).toBeGreaterThan(0);
    await using node = startNode(server, 'us1', { spool });
    expect(namesOf(node)).toEqual(['shop', 'blog']);
    node.local.see(seen.slice(100));
    await using listening = await startListening(server);
    const { hub, observations, since } = listening;
    hub.transport.assign('us1', { number: 1, targets: [target('shop')] });
    await eventually(30_000, () => expect(observations).toHaveLength(300));
    expect(observations.toSorted((a, b) => a.dueAt - b.dueAt)).toEqual(seen);
    await eventually(30_000, () => expect(spool.size).toBe(0));
    await eventually(30_000, () => expect(since).not.toEqual([]));
    expect(namesOf(node)).toEqual(['shop']);
    await node.node.stop(0);
    spool.close();
  });

  test('a node keeps what the hub has not stored, and sends it again to the next one', async () => {
    await using node = startNode(server, 'us1');
    {
      await using listening = await startListening(server, false);
      const { hub, observations } = listening;
      hub.transport.assign('us1', { number: 1, targets: [target('shop')] });
      await eventually(30_000, () => expect(namesOf(node)).toEqual(['shop']));
      node.local.see([observation('shop', 1_000)]);
      await eventually(30_000, () => expect(observations).toHaveLength(1));
      expect(node.spool.size).toBe(1);
    }
    await using listening = await startListening(server, false);
    const { observations, settle } = listening;
    await eventually(30_000, () => expect(observations.length).toBeGreaterThan(0));
    expect(node.spool.size).toBe(1);
    for (const done of settle) done();
    await eventually(30_000, () => expect(node.spool.size).toBe(0));
  });

  test('a hub knows when its nodes have sent all that they kept', async () => {
    const spool = memorySpool();
    const kept = { epoch: 'a', number: 1, aheadMs: 0, targets: [target('shop')] };
    spool.keepAssignment(JSON.stringify(kept));
    await using node = startNode(server, 'us1', { spool });
    await using other = startNode(server, 'de1');
    const seen = Array.from({ length: 500 }, (_, index) => observation('shop', 1_000 * index));
    for (const one of seen) node.local.see([one]);
    expect(spool.size).toBe(500);
    await using listening = await startListening(server, false);
    const { hub, observations } = listening;
    await eventually(30_000, () => expect(hub.transport.hasAllSent()).toBe(true));
    expect(observations).toHaveLength(500);
    expect(hub.transport.nodes().every(({ online }) => online)).toBe(true);
    expect(other.node.welcome).toBe(true);
  });

  test('of two processes of a node one watches; when it ends the other does', async () => {
    await using listening = await startListening(server);
    const { hub, since } = listening;
    const first = startNode(server, 'us1');
    hub.transport.assign('us1', { number: 1, targets: [target('shop')] });
    await eventually(30_000, () => expect(namesOf(first)).toEqual(['shop']));
    await using second = startNode(server, 'us1');
    await eventually(30_000, () => expect(second.local.assignments.at(-1)).toEqual({ number: 1, targets: [] }));
    await first.node.stop(0);
    await eventually(30_000, () => expect(namesOf(second)).toEqual(['shop']));
    await eventually(30_000, () => expect(since.at(-1)).toBeLessThan(Number.POSITIVE_INFINITY));
    expect(since).toContain(Number.POSITIVE_INFINITY);
  });

  test('of two processes of a node the other takes over when the one that watches is killed, before reports are missed', async () => {
    await using listening = await startListening(server);
    const { hub } = listening;
    const killed = await signIn('us1');
    killed.subscribe(subjectsOf('us1').command('rogue'), {
      callback: (_, message) =>
        void message.respond(JSON.stringify({ protocol: [1, 3], process: 'rogue', state: 'accepted', reason: null })),
    });
    hub.transport.assign('us1', { number: 1, targets: [target('shop')] });
    await reportIn(killed, 'us1', { watching: null });
    await using second = startNode(server, 'us1');
    await eventually(30_000, () => expect(second.local.assignments.at(-1)).toEqual({ number: 1, targets: [] }));
    await killed.close();
    await eventually(10_000, () => expect(namesOf(second)).toEqual(['shop']));
  });

  test('a node that was killed and started again watches on, before its former self is given up', async () => {
    await using listening = await startListening(server);
    const { hub, since } = listening;
    const killed = await signIn('us1');
    killed.subscribe(subjectsOf('us1').command('rogue'), {
      callback: (_, message) =>
        void message.respond(JSON.stringify({ protocol: [1, 3], process: 'rogue', state: 'accepted', reason: null })),
    });
    await reportIn(killed, 'us1');
    hub.transport.assign('us1', { number: 1, targets: [target('shop')] });
    await reportIn(killed, 'us1', { watching: { epoch: 'old', number: 1, targets: 1, since: 1 } });
    await killed.close();
    await using node = startNode(server, 'us1');
    await eventually(30_000, () => expect(namesOf(node)).toEqual(['shop']));
    await eventually(30_000, () => expect(since.at(-1)).toBeLessThan(Number.POSITIVE_INFINITY));
    expect(node.local.assignments.map(({ targets }) => targets.length)).not.toContain(0);
  });

  test('a node whose clock is off is told by how much', async () => {
    await using _hub = await startHub(server);
    const clock = { ...systemClock, now: () => systemClock.now() + 3_600_000 };
    await using node = startNode(server, 'us1', { clock });
    await eventually(30_000, () => expect(node.local.aheadMs).toBeGreaterThan(3_590_000));
    expect(node.local.aheadMs).toBeLessThan(3_610_000);
  });

  test('a target whose check this node does not understand is never checked, and says why', async () => {
    await using node = startNode(server, 'us1');
    const hub = await signIn();
    const process = await new Promise<string>((resolve) => {
      hub.subscribe('wp.v1.report.us1', {
        callback(_, message) {
          const { process: name, phase } = message.json<{ process: string; phase: string }>();
          message.respond(JSON.stringify({ protocol: [1, 3], state: 'welcome', reason: null, now: systemClock.now() }));
          if (phase === 'serving') resolve(name);
        },
      });
      hub.publish('wp.v1.hub');
    });
    const wire = { ...target('shop'), spec: { type: 'telepathy', host: 'shop.example.com' } };
    const part = { protocol: [3, 3], epoch: 'a', number: 1, part: { index: 0, of: 1 }, targets: [wire] };
    const answer = await hub.request(subjectsOf('us1').command(process), JSON.stringify(part), { timeout: 30_000 });
    expect(answer.json()).toMatchObject({ state: 'accepted' });
    expect(node.local.assignments.at(-1)?.targets[0]?.unreadable).toContain('this node does not understand the check');
  });

  test('a hub of the version before gets no batches, and what was watched ends; it asks for each check', async () => {
    const spool = memorySpool();
    const kept = { epoch: 'a', number: 1, aheadMs: 0, targets: [{ ...target('shop') }] };
    spool.keepAssignment(JSON.stringify(kept));
    const hub = await signIn();
    const results: string[] = [];
    hub.subscribe('wp.v1.result.us1', { callback: (_, message) => void results.push(message.string()) });
    hub.subscribe('wp.v1.report.us1', {
      callback: (_, message) =>
        void message.respond(
          JSON.stringify({ protocol: [1, 2], state: 'welcome', reason: null, now: systemClock.now() }),
        ),
    });
    await using node = startNode(server, 'us1', { spool });
    expect(namesOf(node)).toEqual(['shop']);
    node.local.see([observation('shop', 1_000)]);
    await eventually(30_000, () => expect(namesOf(node)).toEqual([]));
    expect(spool.size).toBe(1);
    expect(results).toEqual([]);
  });

  test.each([
    { newest: 2, told: { status: 200 } },
    { newest: 3, told: { status: 200, tls_protocol: 'TLSv1.3' } },
  ])('a hub that speaks version $newest is told what it knows of an outcome', async ({ newest, told }) => {
    const spool = memorySpool();
    const hub = await signIn();
    const results: unknown[] = [];
    hub.subscribe('wp.v1.result.us1', {
      callback: (_, message) => void results.push(message.json<{ outcome: { detail: unknown } }>().outcome.detail),
    });
    hub.subscribe('wp.v1.report.us1', {
      callback: (_, message) =>
        void message.respond(
          JSON.stringify({ protocol: [1, newest], state: 'welcome', reason: null, now: systemClock.now() }),
        ),
    });
    const detail = { status: 200, tls_protocol: 'TLSv1.3' };
    const outcome = { status: 'up', seconds: 0.1, address: null, phases: {}, facts: {}, detail };
    spool.put('one', JSON.stringify({ protocol: [1, 3], ticket: 'one', process: 'before', outcome }));
    await using _node = startNode(server, 'us1', { spool });
    await eventually(30_000, () => expect(results.at(0)).toEqual(told));
  });

  test('a node of the version before is assigned nothing', async () => {
    await using hub = await startHub(server);
    const node = await signIn('us1');
    const commands: string[] = [];
    node.subscribe(subjectsOf('us1').command('rogue'), {
      callback: (_, message) => void commands.push(message.string()),
    });
    hub.transport.assign('us1', { number: 1, targets: [target('shop')] });
    const old = JSON.stringify({ ...report(), protocol: [1, 2] });
    for (let times = 0; times < 2; times += 1) await node.request(subjectsOf('us1').report, old, { timeout: 30_000 });
    expect(hub.transport.nodes().find(({ info }) => info.name === 'us1')).toMatchObject({
      online: true,
      keepsTime: false,
    });
    await node.flush();
    expect(commands).toEqual([]);
  });

  test('what is no outcome or not due yet is left out, and what no node may say is refused', async () => {
    await using listening = await startListening(server);
    const { observations } = listening;
    const node = await signIn('us1');
    const batch = (ticket: string, ...seen: readonly object[]) =>
      JSON.stringify({ kind: 'batch', protocol: [3, 3], ticket, process: 'rogue', sightings: seen });
    const good = { ...observation('shop', 1_000), type: 'tcp' };
    const receipts: object[] = [];
    const inbox = `${subjectsOf('us1').inbox}.rogue`;
    node.subscribe(inbox, { callback: (_, message) => void receipts.push(message.json<object>()) });
    const submit = (payload: string) => node.publish(subjectsOf('us1').result, payload, { reply: inbox });
    submit(
      batch(
        'mixed',
        { ...good, dueAt: systemClock.now() + 600_000 },
        { ...good, type: 'telepathy' },
        { ...good, outcome: 7 },
        good,
      ),
    );
    submit(batch('nothing', { ...good, outcome: null }));
    submit('{"kind":"batch","ticket":7}');
    await eventually(30_000, () => expect(receipts).toHaveLength(3));
    expect(receipts).toEqual([
      { ticket: 'mixed', state: 'stored', reason: 'it is no outcome of a tcp check', discarded: 3 },
      { ticket: 'nothing', state: 'refused', reason: 'it is no outcome of a tcp check', discarded: 1 },
      { ticket: '?', state: 'refused', reason: 'it cannot be read' },
    ]);
    expect(observations).toEqual([observation('shop', 1_000)]);
  });

  test('what an overloaded hub grants holds for each node, with what is down, until it grants all again', async () => {
    let share = 0.3;
    const seen: Observation[] = [];
    const told: number[] = [];
    await using hub = await startHub(
      server,
      {},
      {
        watching: () => {},
        seen(_, some, confirm) {
          seen.push(...some);
          confirm?.();
        },
        granted: () => share,
        skipped: (_, __, results) => void told.push(results),
      },
    );
    const nodes = ['us1', 'de1'].map((name) => startNode(server, name));
    for (const name of ['us1', 'de1']) hub.transport.assign(name, { number: 1, targets: [target('shop')] });
    for (const one of nodes) {
      await eventually(30_000, () => expect(namesOf(one)).toEqual(['shop']));
      one.local.see([observation('shop', 0)]);
    }
    await eventually(30_000, () => expect(seen).toHaveLength(2));
    for (const { spool } of nodes) await eventually(30_000, () => expect(spool.size).toBe(0));
    const results = Array.from({ length: 200 }, (_, index) => observation('shop', 1_000 * (index + 1)));
    for (const { local } of nodes) local.see(results);
    for (const { spool } of nodes) await eventually(30_000, () => expect(spool.size).toBe(0));
    expect(told).toHaveLength(2);
    const perNode = (seen.length - 2) / 2;
    expect(told).toEqual([200 - perNode, 200 - perNode]);
    share = 1;
    nodes[0]?.local.see([observation('shop', 300_000)], true);
    await eventually(30_000, () => expect(nodes[0]?.spool.size).toBe(0));
    const before = seen.length;
    nodes[0]?.local.see(results);
    await eventually(30_000, () => expect(seen.length - before).toBe(200));
  });
});
