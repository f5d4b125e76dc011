import { setTimeout as pause } from 'node:timers/promises';
import type { Msg } from '@nats-io/transport-node';
import { describe, expect, test } from 'vitest';
import { type Observation, isGranted } from '#protocol/watching.ts';
import { type ResultReceipt, sharedSubjects } from '#protocol/nodes.ts';
import { askStatus } from '#transport/nats/status.ts';
import { natsObstacle, startNats } from '../../support/nats-server.ts';
import { eventually } from '../../support/program.ts';
import { measured, quickTimes, startNode } from '../../support/remote-nodes.ts';
import { signInAs, welcome } from '../../support/rogue-node.ts';

interface Heard {
  readonly message: Msg;
  readonly ticket: string;
  readonly results: number;
}

const dues = Array.from({ length: 200 }, (_, index) => index * 100);
const observation = (dueAt: number): Observation => ({
  target: 'shop',
  revision: 'one',
  dueAt,
  outcome: measured,
  startedAt: dueAt,
});

/** A hub by hand that is slow where the test wants it to be, and a node that it has welcomed. */
async function setUp() {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await startNats({ nodes: ['us1'] }));
  const hub = await signInAs(server);
  stack.defer(async () => hub.close());
  const reports: Msg[] = [];
  const batches: Heard[] = [];
  let isAnswering = true;
  hub.subscribe(sharedSubjects.reports, {
    callback(_, message) {
      reports.push(message);
      if (isAnswering) welcome(message);
    },
  });
  hub.subscribe(sharedSubjects.results, {
    callback: (_, message) => void batches.push({ message, ...message.json<Omit<Heard, 'message'>>() }),
  });
  await hub.flush();
  const { node, local } = startNode(server, 'us1', { times: { ...quickTimes, answerMs: 300 } });
  stack.defer(async () => node.stop(0));
  await eventually(10_000, () => expect(node.welcome).toBe(true));
  const all = stack.move();
  return {
    hub,
    local,
    reports,
    batches,
    see: (due: readonly number[], isNews = false) => local.see(due.map(observation), isNews),
    tickets: () => batches.map(({ ticket }) => ticket),
    receipt: ({ message, ticket }: Heard, grant?: number) =>
      message.respond(JSON.stringify({ ticket, state: 'stored', reason: null, grant } satisfies ResultReceipt)),
    /** Leaves the reports from now on without an answer, until one has waited for too long. */
    fallSilent: async () => {
      isAnswering = false;
      const before = reports.length;
      await eventually(15_000, () => expect(reports.length).toBeGreaterThan(before));
      await pause(600);
    },
    answerAgain: () => {
      isAnswering = true;
    },
    [Symbol.asyncDispose]: async () => all.disposeAsync(),
  };
}

const granted = (share: number) => dues.filter((due) => isGranted(due, share)).length;

describe.skipIf(natsObstacle() !== null).concurrent('a hub that does not answer in time', () => {
  test('has what it has not come to only once, nothing more until it is heard again, and the share that it granted', async () => {
    await using one = await setUp();
    const { hub, batches, see, tickets, receipt, fallSilent } = one;
    see([100]);
    await eventually(5_000, () => expect(batches).toHaveLength(1));
    receipt(batches[0]!, 0.3);
    await hub.flush();
    await eventually(5_000, () => {
      see(dues);
      expect(batches.at(-1)?.results).toBe(granted(0.3));
    });
    await pause(300);
    const before = tickets();
    await fallSilent();
    see(dues);
    see([300], true);
    expect(tickets()).toEqual(before);
    receipt(batches.at(-1)!, 0.3);
    await eventually(5_000, () => expect(batches).toHaveLength(before.length + 2));
    expect(new Set(tickets()).size).toBe(batches.length);
    expect(batches.slice(before.length).map(({ results }) => results)).toEqual([granted(0.3), 1]);
  });

  test('is heard again by its next answer, too', async () => {
    await using one = await setUp();
    const { batches, see, tickets, fallSilent, answerAgain } = one;
    see([100]);
    await eventually(5_000, () => expect(batches).toHaveLength(1));
    await fallSilent();
    see([200]);
    expect(batches).toHaveLength(1);
    answerAgain();
    await eventually(15_000, () => expect(batches).toHaveLength(2));
    expect(new Set(tickets()).size).toBe(2);
  });

  test('is there if a receipt came meanwhile: the node goes on', async () => {
    await using one = await setUp();
    const { hub, batches, see, receipt, fallSilent } = one;
    see([100]);
    await eventually(5_000, () => expect(batches).toHaveLength(1));
    const silence = fallSilent();
    const receipts = setInterval(() => receipt(batches[0]!), 50);
    await silence;
    see([200]);
    await eventually(2_000, () => expect(batches).toHaveLength(2));
    clearInterval(receipts);
    await hub.flush();
  });

  test('has nothing sent by a late receipt of the hub before it', async () => {
    await using one = await setUp();
    const { hub, batches, see, receipt, fallSilent, answerAgain } = one;
    see([100]);
    await eventually(5_000, () => expect(batches).toHaveLength(1));
    const silence = fallSilent();
    hub.publish(sharedSubjects.hub, '{}');
    await silence;
    see([200]);
    receipt(batches[0]!);
    await hub.flush();
    await pause(300);
    expect(batches).toHaveLength(1);
    answerAgain();
    await eventually(15_000, () => expect(batches).toHaveLength(2));
  });

  test('is away after twenty seconds: all that has no receipt is sent again, and nothing more is left out', async () => {
    await using one = await setUp();
    const { hub, batches, reports, see, receipt, tickets, answerAgain, fallSilent } = one;
    see([100]);
    await eventually(5_000, () => expect(batches).toHaveLength(1));
    receipt(batches[0]!, 0.3);
    await hub.flush();
    see([100]);
    see([300], true);
    await eventually(5_000, () => expect(batches.length).toBeGreaterThan(1));
    const [sent, waiting] = [tickets().slice(1), batches.length];
    await fallSilent();
    const before = reports.length;
    await eventually(40_000, () => expect(reports.length).toBeGreaterThan(before + 3));
    await pause(600);
    see(dues);
    answerAgain();
    await eventually(15_000, () => expect(batches.length).toBeGreaterThan(waiting + sent.length));
    expect(tickets().slice(waiting)).toEqual(expect.arrayContaining(sent));
    expect(batches.at(-1)?.results).toBe(dues.length);
  }, 90_000);

  test('a node that is told to send again later keeps its share', async () => {
    await using one = await setUp();
    const { hub, batches, see } = one;
    see([100]);
    await eventually(5_000, () => expect(batches).toHaveLength(1));
    const later = { state: 'later', reason: null };
    const { message, ticket } = batches[0]!;
    message.respond(JSON.stringify({ ticket, ...later, grant: 0.3 }));
    message.respond(JSON.stringify({ ticket: 'another', ...later }));
    await hub.flush();
    await eventually(5_000, () => {
      see(dues);
      expect(batches.at(-1)?.results).toBe(granted(0.3));
    });
  });

  test('tells how its nodes are as soon as it can', async () => {
    await using server = await startNats({ nodes: ['us1'] });
    const hub = await signInAs(server);
    hub.subscribe(sharedSubjects.status, {
      callback: (_, message) => void setTimeout(() => message.respond(JSON.stringify({ nodes: [] })), 3_000),
    });
    await hub.flush();
    expect(await askStatus(server.account())).toEqual({ nodes: [] });
    await hub.close();
    await expect(askStatus(server.account())).rejects.toThrow(/no responders/i);
  });
});
