import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CheckSpec } from '#checks/index.ts';
import { subjectsOf } from '#protocol/nodes.ts';
import type { Transport } from '#service/ports.ts';
import { natsObstacle, type NatsServer, startNats } from '../../support/nats-server.ts';
import { eventually } from '../../support/program.ts';
import { measured, scriptedNode, startHub, startNode } from '../../support/remote-nodes.ts';
import { result, signInAs, submit } from '../../support/rogue-node.ts';

const never = new AbortController().signal;
const spec = CheckSpec.parse({ type: 'traceroute', host: '192.0.2.9' });
const command = { spec, policy: 'private', deadlineMs: 20_000, wantsInterim: true } as const;
const probe = { address: '10.0.0.1', seconds: 0.001, kind: 'time_exceeded' };
const path = { protocol: 'icmp', port: null, address: '192.0.2.9', family: 4, hops: [{ hop: 1, probes: [probe] }] };
const interim = { ...path, end: 'measuring', mtu: null };
const outcome = { ...measured, detail: { ...path, end: 'reached', mtu: 1_500 } };

/** A node that passes these on, waits until it may go on, and then has an outcome. */
function passingOn(details: readonly unknown[], goOn: Promise<void>): Transport & { retime(aheadMs: number): void } {
  const local = scriptedNode('us1');
  const run: Transport['run'] = async (_, __, ___, listener) => {
    for (const detail of details) listener?.onInterim?.(detail);
    await goOn;
    return outcome;
  };
  return { ...local, nodes: () => local.nodes(), run };
}

describe.skipIf(natsObstacle() !== null)('interim results over NATS', () => {
  let server: NatsServer;
  beforeAll(async () => {
    server = await startNats({ nodes: ['us1', 'jp1'] });
  });
  afterAll(async () => server?.[Symbol.asyncDispose]());

  test('the hub takes what it asked for, while the check goes on, if it can be so', async () => {
    const { promise: goOn, resolve: release } = Promise.withResolvers<void>();
    const details = [{ ...interim, end: 'nonsense' }, { ...interim, address: 'x'.repeat(70_000) }, interim];
    await using hub = await startHub(server);
    await using node = startNode(server, 'us1', { local: passingOn(details, goOn) });
    const found: unknown[] = [];
    const running = hub.transport.run('us1', command, never, { onInterim: (detail) => void found.push(detail) });
    await eventually(30_000, () => expect(found).toEqual([interim]));
    expect(node.spool.size).toBe(0);
    release();
    expect(await running).toEqual(outcome);
    await eventually(30_000, () => expect(node.spool.size).toBe(0));
    expect(found).toEqual([interim]);
  });

  test('a node sends none to a hub that does not ask for them', async () => {
    const witness = await signInAs(server);
    const beginnings: string[] = [];
    const kindOf = (text: string) => (JSON.parse(text) as { kind?: string }).kind ?? 'result';
    witness.subscribe(subjectsOf('us1').result, {
      callback: (_, message) => void beginnings.push(kindOf(message.string())),
    });
    await witness.flush();
    await using hub = await startHub(server);
    await using _node = startNode(server, 'us1', { local: passingOn([interim], Promise.resolve()) });
    const { wantsInterim: _wanted, ...plain } = command;
    expect(await hub.transport.run('us1', plain, never, { onInterim: () => expect.unreachable() })).toEqual(outcome);
    await eventually(30_000, () => expect(beginnings).toEqual(['result']));
    await witness.close();
  });

  test('a node cannot pass on anything for the check of another node', async () => {
    const { promise: goOn, resolve: release } = Promise.withResolvers<void>();
    await using hub = await startHub(server);
    await using _node = startNode(server, 'us1', { local: passingOn([], goOn) });
    const witness = await signInAs(server);
    const thief = await signInAs(server, 'jp1');
    const tickets: string[] = [];
    witness.subscribe('wp.v1.command.us1.>', {
      callback: (_, message) => void tickets.push(message.json<{ ticket: string }>().ticket),
    });
    await witness.flush();
    const found: unknown[] = [];
    const running = hub.transport.run('us1', command, never, { onInterim: (detail) => void found.push(detail) });
    const [ticket = ''] = await eventually(30_000, () => {
      expect(tickets).toHaveLength(1);
      return tickets;
    });
    thief.publish(subjectsOf('jp1').result, JSON.stringify({ kind: 'interim', ticket, process: 'p', detail: interim }));
    // The hub reads one after another: what it answers to this it does after that.
    expect(await submit(thief, 'jp1', result('made.up'))).toMatchObject({ state: 'refused' });
    expect(found).toEqual([]);
    release();
    expect(await running).toEqual(outcome);
    await witness.close();
    await thief.close();
  });
});
