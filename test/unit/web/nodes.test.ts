import { expect, test } from 'vitest';
import type { NodeStatus } from '#service/ports.ts';
import { loadAssets } from '#web/assets/assets.ts';
import { nodesContent, nodesTitle, type NodeValue } from '#web/pages/nodes.ts';
import { noOverload } from '#web/pages/overload.ts';
import { texts } from '#web/pages/texts.ts';

const assets = await loadAssets();

const node = (name: string, status: Pick<NodeStatus, 'online' | 'reason'> & Partial<NodeStatus>): NodeValue => ({
  info: { name, city: '', country: '', countryCode: '', asn: '', ip: '' },
  capabilities: {},
  running: 0,
  queued: 0,
  lagSeconds: 0,
  targets: null,
  disagreement: null,
  ...status,
});
const online = node('de1', { online: true, starting: false, reason: null });
const starting = node('zz1', { online: false, starting: true, reason: 'starting' });
const away = node('us1', { online: false, reason: 'it has not reported for 3 s' });

const healthOf = (one: NodeValue) =>
  /<td>(?<health>.*?)<\/td>/s
    .exec(String(nodesContent([one], assets, noOverload)))
    ?.groups?.['health']?.replaceAll(/<[^>]*>/g, ' ')
    .trim();

test('the nodes that are not online are named: those that start, and those that are away', () => {
  expect(nodesTitle([])).toBe('There are no nodes.');
  expect(nodesTitle([online, online])).toBe('2 nodes are watching.');
  expect(nodesTitle([starting])).toBe('0 nodes are watching; zz1 is starting.');
  expect(nodesTitle([online, away, starting])).toBe('1 node is watching; us1 is away, zz1 is starting.');
  expect(nodesTitle([away, away, away, starting, away])).toBe(
    '0 nodes are watching; us1 is away, us1 is away, us1 is away, 2 more are not online.',
  );
});

test('a node that starts is neither online nor away', () => {
  expect([online, starting, away].map(healthOf)).toEqual([
    texts.nodes.online,
    texts.nodes.starting,
    expect.stringMatching(/^away +it has not reported for 3 s$/),
  ]);
});
