import { pino } from 'pino';
import { expect, test } from 'vitest';
import { openChecking } from '#compose/checking.ts';
import { systemClock } from '#kernel/clock.ts';
import { systemRandom } from '#kernel/random.ts';
import { eventually } from '../support/program.ts';
import { nodeInfo } from '../support/votes.ts';

test('the program is not ready until every node in it has started', async () => {
  const nodes = ['de1', 'us1'].map((name) => ({ info: nodeInfo(name), localAddress: {}, inFlight: 10 }));
  const environment = {
    clock: systemClock,
    random: systemRandom,
    log: pino({ level: 'silent' }),
    version: '1',
    pid: 1,
  };
  const checking = await openChecking({ nodes, nats: null, foreignService: null }, environment, null);
  expect(checking.notReady()).toEqual(['node de1 is starting', 'node us1 is starting']);
  await eventually(30_000, () => expect(checking.notReady()).toEqual([]));
  expect(checking.nodes().map(({ up }) => up)).toEqual([true, true]);
  await checking.close();
  expect(checking.notReady()).not.toEqual([]);
});
