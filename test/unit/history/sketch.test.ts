import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { countOf, createSketch } from '#history/sketch.ts';
import { Tally } from '#history/tally.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const random = seededRandom(7);
const normal = () => Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());

// Microseconds.
const distributions: readonly (readonly [string, () => number])[] = [
  ['even', () => 1_000 + random.next() * 99_000],
  ['normal', () => Math.max(1, 50_000 + normal() * 8_000)],
  ['log-normal', () => 20_000 * Math.exp(normal())],
  ['exponential', () => -30_000 * Math.log(1 - random.next())],
  ['with a heavy tail', () => 5_000 / (1 - random.next()) ** (1 / 1.2)],
  ['of two peaks', () => (random.next() < 0.8 ? 12_000 : 480_000) * (0.9 + random.next() * 0.2)],
  ['all alike', () => 7_777],
  ['in steps', () => 1_000 * (1 + Math.floor(random.next() * 5))],
  ['of loopback', () => 9 + random.next() * 40],
  ['with rare timeouts', () => (random.next() < 0.01 ? 9_900_000 : 30_000 + random.next() * 2_000)],
];

test.each(distributions)('percentiles of times %s lie within 1% of the exact ones', (_, next) => {
  const times = Array.from({ length: 20_000 }, () => Math.max(1, Math.round(next())));
  const sketch = createSketch();
  for (const time of times) sketch.add(time);
  const sorted = times.toSorted((a, b) => a - b);
  for (const quantile of [0, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1]) {
    const exact = sorted[Math.max(Math.ceil(quantile * sorted.length), 1) - 1] ?? Number.NaN;
    expect(Math.abs((sketch.quantile(quantile) ?? 0) - exact) / exact).toBeLessThanOrEqual(0.010001);
  }
});

test.each([1, 2, 3, 4, 19, 20, 21, 100])(
  'of %i times percentiles are of the nearest rank, as those of rules are',
  (count) => {
    const sketch = createSketch();
    for (let number = 1; number <= count; number += 1) sketch.add(number * 1_000);
    for (const quantile of [0.5, 0.95, 0.99]) {
      const exact = Math.ceil(quantile * count) * 1_000;
      expect(Math.abs((sketch.quantile(quantile) ?? 0) - exact) / exact).toBeLessThanOrEqual(0.010001);
    }
  },
);

const times = fc.array(fc.integer({ min: 0, max: 2 ** 45 }), { maxLength: 200 });

test('sums of parts, encoded and merged in any order, are the sums of the whole', () => {
  fc.assert(
    fc.property(fc.array(times, { maxLength: 6 }), (parts) => {
      const tallyOf = (list: readonly number[]) => {
        const tally = new Tally();
        for (const durationUs of list) tally.addResult({ status: 'up', durationUs, lateAt: null });
        return tally;
      };
      const whole = tallyOf(parts.flat());
      const merged = new Tally();
      for (const part of parts.toReversed()) merged.addSums(tallyOf(part).sums);
      expect(merged.sums).toEqual(whole.sums);
      expect(merged.latency).toEqual(whole.latency);
      expect(countOf(whole.sums.sketch)).toBe(parts.flat().length);
    }),
  );
});

test('a sketch of another version is refused, not misread', () => {
  expect(() => createSketch().merge(Uint8Array.of(2, 0, 0))).toThrow('version 2');
});

test('a sketch of an hour of one check takes about a byte for a time at the most', () => {
  const tally = new Tally();
  for (let index = 0; index < 120; index += 1) {
    tally.addResult({ status: 'up', durationUs: Math.round(200 + random.next() ** 4 * 400_000), lateAt: null });
  }
  expect(tally.sums.sketch.length).toBeLessThan(140);
});

test('a time that was rounded down to nothing is still counted after encoding', () => {
  const sketch = createSketch();
  sketch.add(0);
  sketch.add(5_000);
  expect(countOf(sketch.encode())).toBe(2);
  const read = createSketch();
  read.merge(sketch.encode());
  expect([read.count, read.quantile(0)]).toEqual([2, expect.closeTo(1, 1)]);
});
