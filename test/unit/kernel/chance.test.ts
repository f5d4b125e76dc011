import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { stableFraction } from '#kernel/hash.ts';
import { systemRandom } from '#kernel/random.ts';

test('the fraction of a text is the same on every machine and in every version', () => {
  expect(stableFraction('shop')).toBe(0.5529786243973049);
  expect(stableFraction('')).toBe(0.8894159948913369);
});

test('the fraction of any text is in [0, 1)', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const fraction = stableFraction(text);
      expect(fraction).toBeGreaterThanOrEqual(0);
      expect(fraction).toBeLessThan(1);
    }),
  );
});

test('the fractions of similar names are spread evenly', () => {
  const tenths = Array.from({ length: 10 }, () => 0);
  for (let index = 0; index < 10_000; index += 1) {
    const tenth = Math.floor(stableFraction(`target-${index}`) * 10);
    tenths[tenth] = (tenths[tenth] ?? 0) + 1;
  }
  for (const count of tenths) expect(Math.abs(count - 1_000)).toBeLessThan(150);
});

test.each([0, 1, 12, 16, 1_000])('an id of %i characters has as many, all letters and digits', (length) => {
  expect(systemRandom.id(length)).toMatch(new RegExp(`^[0-9A-Za-z]{${length}}$`));
});

test('every letter and digit is as likely in an id as any other', () => {
  const counts = new Map<string, number>();
  const length = 62_000;
  for (const sign of systemRandom.id(length)) counts.set(sign, (counts.get(sign) ?? 0) + 1);
  expect(counts.size).toBe(62);
  // With 61 degrees of freedom a fair alphabet stays under 130 but once in a million runs; taking bytes modulo 62 gives over 500.
  const expected = length / 62;
  const chiSquare = [...counts.values()].reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
  expect(chiSquare).toBeLessThan(130);
});

test('ids do not repeat', () => {
  expect(new Set(Array.from({ length: 1_000 }, () => systemRandom.id(16))).size).toBe(1_000);
});

test('random numbers are in [0, 1) and bytes are as many as asked for', () => {
  for (let index = 0; index < 100; index += 1) {
    const number = systemRandom.next();
    expect(number >= 0 && number < 1).toBe(true);
  }
  expect(systemRandom.bytes(32)).toHaveLength(32);
  expect(systemRandom.bytes(32)).not.toEqual(systemRandom.bytes(32));
});
