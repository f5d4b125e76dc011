import { expect, test } from 'vitest';
import { readWireResults } from '#protocol/watching.ts';

const result = {
  target: 'shop',
  revision: 'r1',
  type: 'tcp',
  dueAt: 1_790_000_000_000,
  startedAt: 1_790_000_000_000.25,
  outcome: { status: 'up' },
};
const batchOf = (...results: readonly unknown[]) => ({ kind: 'batch', sightings: results });

test('results are read as they are, whatever their outcome says', () => {
  const odd = { ...result, outcome: null, target: 'x'.repeat(500), revision: '', type: '' };
  expect(readWireResults(batchOf(result, odd))).toEqual([result, odd]);
  expect(readWireResults(batchOf())).toEqual([]);
  expect(readWireResults(batchOf({ ...result, of: 'a later version' }))).toHaveLength(1);
});

test.each<[string, unknown]>([
  ['no batch', null],
  ['a list', [result]],
  ['a text', 'sightings'],
  ['without results', { kind: 'batch' }],
  ['results that are no list', { sightings: { 0: result } }],
  ['a result that is a list', batchOf([])],
  ['one that is null', batchOf(result, null)],
  ...Object.keys(result)
    .filter((key) => key !== 'outcome')
    .map((key) => [`one without ${key}`, batchOf({ ...result, [key]: undefined })] as [string, unknown]),
  ['an empty name', batchOf({ ...result, target: '' })],
  ['a name that is too long', batchOf({ ...result, target: 'x'.repeat(501) })],
  ['a revision that is too long', batchOf({ ...result, revision: 'x'.repeat(101) })],
  ['a type that is too long', batchOf({ ...result, type: 'x'.repeat(101) })],
  ['a number for a name', batchOf({ ...result, target: 7 })],
  ['a text for a due time', batchOf({ ...result, dueAt: '1790000000000' })],
  ['a broken due time', batchOf({ ...result, dueAt: 1.5 })],
  [
    'an endless due time',
    batchOf(JSON.parse('{"target":"a","revision":"r","type":"tcp","dueAt":1e999,"startedAt":1}')),
  ],
  ['an endless begin', batchOf(JSON.parse('{"target":"a","revision":"r","type":"tcp","dueAt":1,"startedAt":1e999}'))],
  ['a list for a begin', batchOf({ ...result, startedAt: [1] })],
])('%s is refused', (_, written) => {
  expect(readWireResults(written)).toBeNull();
});
