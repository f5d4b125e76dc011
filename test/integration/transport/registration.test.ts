import type { Msg } from '@nats-io/transport-node';
import { describe, expect, test } from 'vitest';
import { systemClock } from '#kernel/clock.ts';
import { reportEveryMs, subjectsOf } from '#protocol/nodes.ts';
import { createRegistration } from '#transport/nats/registration.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { natsObstacle, startNats } from '../../support/nats-server.ts';
import { eventually } from '../../support/program.ts';
import { report, signInAs, welcome } from '../../support/rogue-node.ts';

const answerMs = 500;

describe.skipIf(natsObstacle() !== null)('reports of a node', () => {
  async function setUp() {
    await using stack = new AsyncDisposableStack();
    const server = stack.use(await startNats({ nodes: ['us1'] }));
    const hub = await signInAs(server);
    stack.defer(async () => hub.close());
    const node = await signInAs(server, 'us1');
    stack.defer(async () => node.close());
    const reports: Msg[] = [];
    hub.subscribe(subjectsOf('us1').report, { callback: (_, message) => void reports.push(message) });
    await hub.flush();
    const events: string[] = [];
    const registration = createRegistration({
      name: 'us1',
      log: memoryLog().log,
      clock: systemClock,
      answerMs,
      state: () => report(),
      connection: () => node,
      onWelcome: () => void events.push('welcome'),
      onUnwelcome: () => void events.push('unwelcome'),
      onSilent: () => void events.push('silent'),
      onClosed: () => void events.push('closed'),
      onRefused: () => void events.push('refused'),
    });
    stack.defer(() => registration.stop());
    const count = async (wanted: number) => eventually(5_000, () => expect(reports).toHaveLength(wanted));
    const all = stack.move();
    return { reports, events, registration, count, [Symbol.asyncDispose]: async () => all.disposeAsync() };
  }

  test('one that went to a hub that is gone says nothing of the hub that has answered a newer one', async () => {
    await using one = await setUp();
    one.registration.reportIn(0);
    await one.count(1);
    one.registration.reportIn(0);
    await one.count(2);
    welcome(one.reports[1]!);
    await one.count(3);
    welcome(one.reports[2]!);
    await new Promise((resolve) => setTimeout(resolve, 3 * answerMs));
    expect(one.events).toEqual(['welcome', 'welcome']);
    expect(3 * answerMs).toBeLessThan(reportEveryMs);
  });

  test('a hub that answers none is away', async () => {
    await using one = await setUp();
    one.registration.reportIn(0);
    await one.count(1);
    one.registration.reportIn(0);
    await eventually(5_000, () => expect(one.events).toEqual(['unwelcome', 'unwelcome']));
  });
});
