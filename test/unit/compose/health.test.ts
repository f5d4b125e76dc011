import { expect, test } from 'vitest';
import { healthOf, notReadyReasons } from '#compose/health.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { nodeInfo } from '../../support/votes.ts';

const up = { info: nodeInfo('de1'), online: true };
const starting = { info: nodeInfo('us1'), online: false, starting: true };
const lost = { info: nodeInfo('jp1'), online: false };

test.each([
  { nodes: [starting], says: ['node us1 is starting'] },
  { nodes: [up, starting], says: ['node us1 is starting'] },
  { nodes: [up, lost], says: [] },
  { nodes: [lost], says: ['no node is online'] },
  { nodes: [], says: ['no node is online'] },
])('of its nodes the program says $says', ({ nodes, says }) => {
  expect(notReadyReasons(nodes)).toEqual(says);
});

test('the program is ready once its nodes are and its store takes what is written', () => {
  let reasons = ['node us1 is starting'];
  let lastError: string | null = 'the disk is full';
  const health = healthOf({
    checking: { notReady: () => reasons },
    store: { health: () => ({ lastError, failingSince: null, queued: 0, dropped: 0 }) },
    outbox: { ageMs: () => 0 },
    clock: new FakeClock(),
    monitor: () => undefined,
  });
  expect(health.notReady()).toEqual(['node us1 is starting', 'nothing can be stored: the disk is full']);
  lastError = null;
  expect(health.notReady()).toEqual(['node us1 is starting']);
  reasons = [];
  expect(health.notReady()).toEqual([]);
});
