import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { NodeInfo } from '#checks/index.ts';
import { createDirectory } from '#client/directory.ts';

const entry = { asn: 'AS64500', ip: '192.0.2.1', location: ['de', 'Germany', 'Berlin'] };

test('a node of the usual form is named by what stands before the first dot', () => {
  const directory = createDirectory();
  expect(directory.replace({ nodes: { 'de1.node.example.net': entry } })).toBe(true);
  expect(directory.nodes()).toEqual([
    { name: 'de1', countryCode: 'de', country: 'Germany', city: 'Berlin', asn: 'AS64500', ip: '192.0.2.1' },
  ]);
  expect(directory.idOf('de1')).toBe('de1.node.example.net');
  expect(directory.idOf('de1.node.example.net')).toBe('de1.node.example.net');
  expect(directory.idOf('de2')).toBeNull();
});

test('a node with an odd name, or with one that is taken, gets a name of its own that it keeps', () => {
  const nodes = { 'frankfurt-3': entry, 'de1.other.example.org': entry, 'de1.node.example.net': entry };
  const [one, other] = [createDirectory(), createDirectory()];
  one.replace({ nodes });
  other.replace({ nodes: Object.fromEntries(Object.entries(nodes).toReversed()) });
  expect(one.idOf('de1')).toBe('de1.node.example.net');
  const name = one.find('frankfurt-3')?.name;
  expect(name).toMatch(/^de\d{4}$/);
  expect(other.find('frankfurt-3')?.name).toBe(name);
  expect(new Set(one.nodes().map((node) => node.name)).size).toBe(3);
  one.replace({ nodes: { 'frankfurt-3': entry } });
  expect(one.nodes().map((node) => node.name)).toEqual([name]);
});

test('whatever a service lists, every node is well-formed and no two share a name', () => {
  const id = fc.oneof(fc.string(), fc.constantFrom('de1', 'de1.a', 'de1.b', 'DE1', 'xx12345.node.x', '__proto__'));
  fc.assert(
    fc.property(fc.array(fc.tuple(id, fc.oneof(fc.constant(entry), fc.jsonValue()))), (entries) => {
      const directory = createDirectory();
      directory.replace({ nodes: Object.fromEntries(entries) });
      for (const [each, place] of entries) directory.meet(each, place);
      const nodes = directory.nodes();
      for (const node of nodes) expect(NodeInfo.safeParse(node).success).toBe(true);
      expect(new Set(nodes.map(({ name }) => name)).size).toBe(nodes.length);
    }),
  );
});

test.each([
  { name: 'a plain list of identifiers', body: { nodes: ['de1.node.example.net'] }, names: ['de1'] },
  { name: 'broken entries', body: { nodes: { 'de1.node.example.net': 5 } }, names: ['de1'] },
  {
    name: 'the plain list of addresses of the public service',
    body: { nodes: ['192.0.2.1', '2001:db8::a'] },
    names: [],
  },
  { name: 'no list', body: { error: 'x' }, names: [] },
  { name: 'nothing', body: null, names: [] },
])('reads $name', ({ body, names }) => {
  const directory = createDirectory();
  expect(directory.replace(body)).toBe(names.length > 0);
  expect(directory.nodes().map(({ name }) => name)).toEqual(names);
});

test('a list that cannot be read leaves the one before', () => {
  const directory = createDirectory();
  directory.replace({ nodes: { 'de1.node.example.net': entry } });
  directory.replace({ nodes: {} });
  expect(directory.nodes()).toHaveLength(1);
});

test('a descriptor of a start tells the place of a node that is in no list', () => {
  const directory = createDirectory();
  expect(directory.isKnown('us1.node.example.net')).toBe(false);
  expect(directory.meet('us1.node.example.net', ['us', 'USA', 'Los\nAngeles', '', 'nonsense'])).toEqual({
    name: 'us1',
    countryCode: 'us',
    country: 'USA',
    city: 'Los Angeles',
    asn: '',
    ip: '',
  });
  expect(directory.isKnown('us1.node.example.net')).toBe(true);
});

test('a service that makes up identifiers without end does not fill the memory', () => {
  const directory = createDirectory();
  for (let number = 0; number < 12_000; number += 1) directory.meet(`node-${number}`);
  expect(directory.nodes().length).toBeLessThanOrEqual(5_000);
});
