import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { pack, type PackedResult, unpack } from '#history/pack.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const from = Date.parse('2026-10-01T07:00:00Z');

const failure = fc.option(fc.string({ maxLength: 60, unit: 'grapheme' }));
const result = fc.record({
  gap: fc.oneof(fc.constant(30_000), fc.nat(60_000)),
  status: fc.constantFrom('up' as const, 'down' as const, 'unknown' as const),
  durationUs: fc.option(fc.oneof(fc.nat(500_000), fc.nat(Number.MAX_SAFE_INTEGER), fc.constant(0))),
  failure,
  late: fc.option(fc.integer({ min: -1_000, max: 10_000_000_000 })),
});

test('whatever is packed comes back as it was', () => {
  fc.assert(
    fc.property(fc.array(result, { maxLength: 150 }), (rows) => {
      let dueAt = from;
      const results = rows.map(({ gap, late, ...row }): PackedResult => {
        dueAt += gap;
        return { ...row, dueAt, lateAt: late === null ? null : dueAt + late };
      });
      expect(unpack(pack(results, from), from)).toEqual(results);
    }),
  );
});

test('bytes that are no pack are refused', () => {
  expect(() => unpack(Uint8Array.of(9, 1), from)).toThrow('version 9');
  const [first = 0, second = 0] = pack(
    [{ dueAt: from, status: 'up', durationUs: 5, failure: null, lateAt: null }],
    from,
  );
  expect(() => unpack(Uint8Array.of(first, second), from)).toThrow('unexpected end');
});

const random = seededRandom(3);
const hourOf = (next: () => number) =>
  Array.from({ length: 120 }, (_, index): PackedResult => {
    const durationUs = Math.round(next());
    return { dueAt: from + 12_345 + index * 30_000, status: 'up', durationUs, failure: null, lateAt: null };
  });

test.each([
  ['of loopback', () => 200 + random.next() * 60, 1.1],
  ['over land, 20 ms give or take 1', () => 20_000 + random.next() * 2_000, 1.8],
  ['from a tenth of a millisecond to half a second', () => 200 + random.next() ** 4 * 400_000, 2.4],
])('an hour of times %s takes few bytes for a result', (_, next, bytes) => {
  expect(pack(hourOf(next), from).length / 120).toBeLessThan(bytes);
});

test('an hour in which a target is down keeps each text once', () => {
  const text = JSON.stringify({
    source: 'target',
    code: 'refused',
    message: 'connection refused',
    address: '192.0.2.80',
  });
  const results = hourOf(() => 300).map((one): PackedResult => ({ ...one, status: 'down', failure: text }));
  expect(pack(results, from).length).toBeLessThan(text.length + 60);
});
