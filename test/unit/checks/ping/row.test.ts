import * as fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { ping } from '#checks/ping/index.ts';
import { outcomeOf } from '#checks/outcome-schemas.ts';

const Samples = z.array(z.looseObject({ check: z.string(), kind: z.string(), sample: z.unknown() }));
const samples = Samples.parse(
  JSON.parse(readFileSync(new URL('../../../fixtures/samples.json', import.meta.url), 'utf8')),
);
const Outcome = outcomeOf(ping.Detail);

// A captured result is a map from nodes to rows; the others are one row.
const rows = samples
  .filter(({ check, kind }) => check === 'ping' && kind.includes('result'))
  .flatMap(({ sample }) =>
    Array.isArray(sample) ? [sample] : Object.values(z.record(z.string(), z.unknown()).parse(sample)),
  );

const readable = rows.filter((row) => JSON.stringify(row) !== '[[]]');

test('there are captured rows to read', () => {
  expect(readable.length).toBeGreaterThanOrEqual(7);
});

test.each(readable.map((row) => [JSON.stringify(row), row]))('the captured row %s is read', (_, row) => {
  const outcome = Outcome.parse(ping.row.fromRow(row));
  const [cells] = z.tuple([z.array(z.array(z.unknown()))]).parse(row);
  expect(outcome.detail?.attempts.map(({ status }) => status)).toEqual(cells.map(([status]) => status));
  expect(outcome.address).toBe(cells[0]?.[2]);
  expect(outcome.status).toBe(cells.some(([status]) => status === 'OK') ? 'up' : 'down');
});

test('a row of four replies is up with the mean of them', () => {
  const row = [
    [
      ['OK', 0.01, '192.0.2.1'],
      ['OK', 0.02],
      ['OK', 0.03],
      ['OK', 0.04],
    ],
  ];
  expect(ping.row.fromRow(row)).toEqual({
    status: 'up',
    seconds: 0.025,
    address: '192.0.2.1',
    phases: {},
    facts: { loss: 0, rtt_min: 0.01, rtt_mean: 0.025, rtt_max: 0.04, rtt_deviation: 0.01118 },
    detail: {
      attempts: [0.01, 0.02, 0.03, 0.04].map((seconds) => ({ status: 'OK', seconds, ttl: null, reason: null })),
      duplicates: 0,
      timed_by: null,
    },
  });
});

test.each([
  {
    name: 'only timeouts',
    row: [
      [
        ['TIMEOUT', 3],
        ['TIMEOUT', 3],
      ],
    ],
    source: 'target',
    code: 'timeout',
  },
  {
    name: 'an unreachable',
    row: [
      [
        ['TIMEOUT', 3],
        ['DEST_UNREACH', 0.1],
      ],
    ],
    source: 'target',
    code: 'unreachable',
  },
  {
    name: 'a corrupted reply',
    row: [
      [
        ['MALFORMED', 0.1],
        ['TIMEOUT', 3],
      ],
    ],
    source: 'target',
    code: 'protocol',
  },
  { name: 'what could not be sent', row: [[['ERROR', 0]]], source: 'node', code: 'local' },
  { name: 'an unresolved name', row: [[null]], source: 'target', code: 'name_not_found' },
])('$name is the fault of the $source: $code', ({ row, source, code }) => {
  const status = source === 'target' ? 'down' : 'unknown';
  expect(ping.row.fromRow(row)).toMatchObject({ status, failure: { source, code } });
});

test('loss counts the requests that were sent', () => {
  const row = [
    [
      ['OK', 0.01, '192.0.2.1'],
      ['TIMEOUT', 3],
      ['ERROR', 0],
    ],
  ];
  expect(ping.row.fromRow(row)).toMatchObject({ status: 'up', facts: { loss: 0.5 } });
});

test.each([
  ['nothing', null],
  ['an empty list', []],
  ['no attempts', [[]]],
  ['a null', [null]],
  ['a node fault', [null, { message: 'gone' }]],
  ['an unknown status', [[['LATE', 1]]]],
  ['a negative time', [[['OK', -1]]]],
  ['a time that is text', [[['OK', '1']]]],
  ['a null among attempts', [[['OK', 1], null]]],
  ['more after the attempts', [[['OK', 1]], 1]],
  ['an object', { error: 'x' }],
])('%s cannot be read', (_, row) => {
  expect(ping.row.fromRow(row)).toBeNull();
});

test('arbitrary JSON is read as an outcome or not at all', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (row) => {
      const outcome = ping.row.fromRow(row);
      return outcome === null || Outcome.safeParse(outcome).success;
    }),
  );
});

const status = fc.constantFrom('OK', 'TIMEOUT', 'MALFORMED', 'DEST_UNREACH', 'ERROR');
const attempt = fc.tuple(status, fc.double({ min: 0, max: 100, noNaN: true }));
const address = fc.oneof(fc.ipV4(), fc.ipV6());

test('whatever can be read becomes a row that says the same again', () => {
  const withAddress = fc.tuple(fc.array(attempt, { minLength: 1, maxLength: 20 }), address, fc.boolean());
  fc.assert(
    fc.property(withAddress, ([attempts, address, present]) => {
      const [first, ...rest] = attempts;
      const outcome = ping.row.fromRow([[present ? [...(first ?? []), address] : first, ...rest]]);
      expect(Outcome.parse(outcome)).toEqual(outcome);
      if (outcome === null) return;
      const row = JSON.parse(JSON.stringify(ping.row.toRow(outcome))) as unknown;
      const again = ping.row.fromRow(row);
      expect(again?.detail).toEqual(outcome.detail);
      expect(again?.facts).toEqual(outcome.facts);
      if (again === null) return;
      expect(ping.row.toRow(again)).toEqual(row);
    }),
  );
});

test('the address stands on the first OK attempt and nowhere else', () => {
  const outcome = ping.row.fromRow([
    [
      ['TIMEOUT', 3, '192.0.2.1'],
      ['OK', 0.01],
      ['OK', 0.02, '192.0.2.1'],
    ],
  ]);
  expect(outcome === null ? null : ping.row.toRow(outcome)).toEqual([
    [
      ['TIMEOUT', 3],
      ['OK', 0.01, '192.0.2.1'],
      ['OK', 0.02],
    ],
  ]);
});

test('an outcome without attempts is written as an unresolved name', () => {
  const failure = { source: 'resolver', code: 'name_server', message: 'the resolver failed' } as const;
  const outcome = {
    status: 'unknown',
    seconds: null,
    address: null,
    phases: {},
    facts: {},
    failure,
    detail: null,
  } as const;
  expect(ping.row.toRow(outcome)).toEqual([[null]]);
});
