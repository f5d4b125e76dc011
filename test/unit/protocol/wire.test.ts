import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkOf, interfaceTypeNames, failed, failure } from '#checks/index.ts';
import { CheckResult, CheckStarted, NodeList } from '#protocol/shapes.ts';
import {
  fromDescriptor,
  fromEntry,
  fromWire,
  nodeIdOf,
  nodeNameOf,
  toDescriptor,
  toEntry,
  toWire,
} from '#protocol/wire.ts';

const de1 = { name: 'de1', countryCode: 'de', country: 'Germany', city: 'Berlin', asn: 'AS64500', ip: '192.0.2.10' };

test.each(['node', 'service', 'resolver'] as const)(
  'a %s fault travels as [null, { message }] for every check type',
  (source) => {
    for (const type of interfaceTypeNames) {
      expect(toWire(failed(failure(source, 'gone', 'the node went away')), type)).toEqual([
        null,
        { message: 'the node went away' },
      ]);
    }
  },
);

test.each([
  { name: '[null]', row: [null], message: 'the node could not run the check' },
  { name: '[null, text]', row: [null, 'some message'], message: 'some message' },
  { name: '[null, { message }]', row: [null, { message: 'gone' }], message: 'gone' },
  { name: '[null, anything]', row: [null, 7], message: 'the node could not run the check: 7' },
  { name: 'a row of no type', row: { odd: true }, message: 'unreadable result: {"odd":true}' },
  { name: 'a text', row: 'nonsense', message: 'unreadable result: "nonsense"' },
])('$name is read as unknown by fault of the node', ({ row, message }) => {
  for (const type of interfaceTypeNames) {
    expect(fromWire(row, type)).toMatchObject({ status: 'unknown', failure: { source: 'node', message } });
  }
});

test('null is a node that still works', () => {
  expect(interfaceTypeNames.map((type) => fromWire(null, type))).toEqual(interfaceTypeNames.map(() => null));
});

test('a failure of the target goes to the check type', () => {
  for (const type of interfaceTypeNames) {
    const outcome = failed(failure('target', 'name_not_found', 'the name does not exist'));
    expect(toWire(outcome, type)).toEqual(checkOf(type).row?.toRow(outcome));
  }
});

test('whatever a service sends is read or is a node fault, never a throw and never down without a row of the type', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(...interfaceTypeNames), (row, type) => {
      const outcome = fromWire(row, type);
      if (row === null) return outcome === null;
      return outcome !== null && (outcome.status !== 'down' || checkOf(type).row?.fromRow(row) !== null);
    }),
  );
});

test('a node keeps its place and name on the way there and back', () => {
  expect(nodeNameOf(nodeIdOf('de1', 'watchpost.internal'))).toBe('de1');
  expect(fromDescriptor('de1', toDescriptor(de1))).toEqual(de1);
  expect(fromEntry('de1', toEntry(de1))).toEqual(de1);
  expect(nodeNameOf('de1')).toBeNull();
  expect(nodeNameOf('DE1.node.example.com')).toBeNull();
});

test('the answers of the public service fit', () => {
  const started = {
    ok: 1,
    request_id: '806df9',
    permanent_link: 'https://check-host.net/check-report/806df9',
    nodes: { 'us1.node.check-host.net': ['us', 'USA', 'Los Angeles', '5.253.30.82', 'AS18978'] },
  };
  expect(CheckStarted.parse(started)).toEqual(started);
  expect(CheckResult.parse({ 'us1.node.check-host.net': null, 'de1.node.check-host.net': [[]] })).toHaveProperty([
    'de1.node.check-host.net',
  ]);
  const nodes = { 'us1.node.check-host.net': { asn: 'AS18978', ip: '5.253.30.82', location: ['us', 'USA', 'LA'] } };
  expect(NodeList.parse({ nodes, extra: 1 })).toEqual({ nodes });
});
