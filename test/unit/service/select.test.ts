import { expect, test } from 'vitest';
import type { NodeSelection } from '#checks/index.ts';
import type { NodeStatus } from '#service/ports.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { selectForApi, selectNodes } from '#service/select.ts';

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

const idle = () => 0;
const select = (
  given: readonly NodeStatus[],
  wanted: number,
  usedOf: (node: string) => number = idle,
  random = seededRandom(),
) => selectForApi(given, wanted, { usedOf, random }).map(({ info }) => info.name);
const loaded = (load: Record<string, number>) => nodes.map((one) => ({ ...one, load: load[one.info.name] ?? 0 }));

test('for the API, equal nodes are chosen in turn by chance', () => {
  const random = seededRandom();
  const chosen = new Set(Array.from({ length: 100 }, () => select(nodes, 1, idle, random)).flat());
  expect(chosen).toEqual(new Set(nodes.map(({ info }) => info.name)));
});

test.each<{ name: string; chosen: string[] }>([
  { name: 'the one with the least to do', chosen: select(loaded({ de1: 0.5, us1: 0.2, us2: 0.6, jp1: 0.3 }), 1) },
  { name: 'the one that has used the least', chosen: select(nodes, 1, (node) => (node === 'de2' ? 0 : 0.5)) },
  { name: 'the only one that is not full', chosen: select(loaded({ de1: 1, us1: 3, us2: 1, jp1: 1 }), 1) },
  { name: 'the only one with an allowance', chosen: select(nodes, 5, (node) => (node === 'de2' ? 0.99 : 1)) },
])('for the API $name is chosen', ({ chosen }) => {
  expect(chosen).toEqual(['de2']);
});

test('for the API the one with the least to do is chosen, whichever that is and whatever chance says', () => {
  const random = seededRandom();
  for (const { info } of nodes) {
    const others = Object.fromEntries(nodes.map((one) => [one.info.name, one.info.name === info.name ? 0.1 : 0.4]));
    for (let times = 0; times < 10; times += 1) {
      expect(select(loaded(others), 1, idle, random)).toEqual([info.name]);
      expect(select(nodes, 1, (node) => others[node] ?? 0, random)).toEqual([info.name]);
    }
  }
});

test('for the API a spread over countries counts more than load, and all are chosen where all are used up', () => {
  expect(select(loaded({ us1: 0.9, us2: 0.8, jp1: 0.9 }), 3)).toHaveLength(3);
  expect(new Set(select(loaded({ us1: 0.9, us2: 0.8, jp1: 0.9 }), 3).map((name) => name.slice(0, 2))).size).toBe(3);
  expect(select(nodes, 9, () => 1)).toHaveLength(5);
});
