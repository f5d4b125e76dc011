import { pino } from 'pino';
import { expect, test } from 'vitest';
import { openChecking } from '#compose/checking.ts';
import { systemClock } from '#kernel/clock.ts';
import { systemRandom } from '#kernel/random.ts';
import { eventually } from '../support/program.ts';
import { nodeInfo } from '../support/votes.ts';

test('the program is not ready until every node in it has started', async () => {
  // As many as may get into each other's way.
  const names = ['de1', 'us1', 'jp1', 'fr1', 'nl1', 'it1'];
  const nodes = names.map((name) => ({ info: nodeInfo(name), localAddress: {}, inFlight: 10 }));
  const environment = {
    clock: systemClock,
    random: systemRandom,
    log: pino({ level: 'silent' }),
    version: '1',
    pid: 1,
  };
  const checking = await openChecking({ nodes, nats: null, foreignService: null }, environment, null);
  expect(checking.notReady()).toEqual(names.map((name) => `node ${name} is starting`));
  await eventually(30_000, () => expect(checking.notReady()).toEqual([]));
  expect(checking.nodes().map(({ up }) => up)).toEqual(names.map(() => true));
  await checking.close();
  expect(checking.notReady()).not.toEqual([]);
});
