import { expect, test } from 'vitest';
import type { NodeSelection } from '#checks/index.ts';
import type { NodeStatus } from '#service/ports.ts';
import { selectNodes } from '#service/select.ts';

function node(name: string, asn: string, online = true): NodeStatus {
  const info = { name, countryCode: name.slice(0, 2), country: '', city: '', asn, ip: '' };
  return { info, online, reason: online ? null : 'gone', capabilities: {}, running: 0, queued: 0, lagSeconds: 0 };
}

const nodes = [
  node('de1', 'AS1'),
  node('de2', 'AS2'),
  node('us1', 'AS1'),
  node('us2', 'AS3', false),
  node('jp1', 'AS4'),
];
const count = (wanted: number, avoid: readonly string[] = []): NodeSelection => ({
  kind: 'count',
  count: wanted,
  avoid,
});

test.each<{ name: string; selection: NodeSelection; chosen: string[] }>([
  { name: 'all are asked, offline ones too', selection: { kind: 'all' }, chosen: ['de1', 'de2', 'us1', 'us2', 'jp1'] },
  {
    name: 'named ones are asked, unknown names left out',
    selection: { kind: 'named', names: ['us2', 'zz9'] },
    chosen: ['us2'],
  },
  { name: 'two come from two countries and networks', selection: count(2), chosen: ['de1', 'jp1'] },
  { name: 'three come from three countries', selection: count(3), chosen: ['de1', 'us1', 'jp1'] },
  { name: 'those to be avoided come last', selection: count(2, ['de1', 'jp1']), chosen: ['de2', 'us1'] },
  {
    name: 'offline ones come after those to be avoided',
    selection: count(4, ['de1']),
    chosen: ['de1', 'de2', 'us1', 'jp1'],
  },
  { name: 'more than there are is all of them', selection: count(99), chosen: ['de1', 'de2', 'us1', 'us2', 'jp1'] },
])('$name', ({ selection, chosen }) => {
  expect(selectNodes(nodes, selection).map(({ info }) => info.name)).toEqual(chosen);
});
