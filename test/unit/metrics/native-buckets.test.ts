import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { NativeBuckets } from '#metrics/native-buckets.ts';

const Seconds = fc.double({ min: 1e-7, max: 1e4, noNaN: true });

test('every value lies in a bucket whose bounds hold it, and all are counted, in order', () => {
  fc.assert(
    fc.property(fc.array(Seconds, { maxLength: 600 }), (values) => {
      const buckets = new NativeBuckets();
      for (const value of values) buckets.observe(value);
      const { indexes, counts, schema } = buckets;
      const base = 2 ** (2 ** -schema);
      const inside = (index: number) =>
        values.filter((value) => value > base ** (index - 1) * (1 - 1e-9) && value <= base ** index * (1 + 1e-9))
          .length;
      expect(indexes).toEqual(indexes.toSorted((a, b) => a - b));
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(values.length);
      expect(indexes.length).toBeLessThanOrEqual(160);
      for (const [place, index] of indexes.entries()) expect(inside(index)).toBeGreaterThanOrEqual(counts[place]!);
    }),
    { numRuns: 100 },
  );
});

test('a bound belongs to the bucket below it, and 0 to none', () => {
  const buckets = new NativeBuckets();
  for (const value of [0, 1, 2, 2.01, 0.25]) buckets.observe(value);
  expect(buckets.zeros).toBe(1);
  expect(buckets.indexes).toEqual([-16, 0, 8, 9]);
});

test('many different values make the buckets wider instead of more', () => {
  const buckets = new NativeBuckets();
  for (let exponent = -20; exponent < 19; exponent += 0.1) buckets.observe(2 ** exponent);
  expect(buckets.schema).toBe(2);
  expect(buckets.counts.reduce((sum, count) => sum + count, 0)).toBe(390);
});
