import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { describeDuration, formatDuration, formatSeconds, parseDuration } from '#kernel/units.ts';
import { Duration, Percentage, Size } from '#kernel/unit-schemas.ts';

const Milliseconds = fc.integer({ min: 0, max: 2 ** 45 });

test.each([
  ['30s', 30_000],
  ['1m30s', 90_000],
  ['800ms', 800],
  ['1.5h', 5_400_000],
  ['14d', 1_209_600_000],
  ['0ms', 0],
  ['0.5ms', 1],
])('%s is %i ms', (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test.each(['', '30', 's', '30 s', '-1s', '1S', '1e3s', '.5s', '5.s', '1s ', '1w', '1,5s'])(
  '"%s" is no duration',
  (text) => {
    expect(parseDuration(text)).toBeNull();
  },
);

test('parsing what was formatted gives the same duration', () => {
  fc.assert(
    fc.property(Milliseconds, (ms) => {
      expect(parseDuration(formatDuration(ms))).toBe(ms);
    }),
  );
});

test('a duration is formatted with the largest units first and each unit once', () => {
  fc.assert(
    fc.property(Milliseconds, (ms) => {
      expect(formatDuration(ms)).toMatch(/^(?:\d+d)?(?:\d+h)?(?:\d+m)?(?:\d+s)?(?:\d+ms)?$/);
    }),
  );
});

test.each([
  [0, '0ms'],
  [850, '850ms'],
  [999.4, '999ms'],
  [999.9, '1s'],
  [42_300, '42s'],
  [3_900_000, '1h 5m'],
  [3_903_000, '1h 5m'],
  [90_061_000, '1d 1h'],
  [86_400_000, '1d'],
])('%d ms is described as %s', (ms, words) => {
  expect(describeDuration(ms)).toBe(words);
});

test.each([
  [0, '0 ms'],
  [0.000_007, '7 µs'],
  [0.000_045_12, '45.1 µs'],
  [0.000_999_4, '999 µs'],
  [0.000_999_9, '1 ms'],
  [0.1314, '131 ms'],
  [1.254, '1.25 s'],
  [25, '25.0 s'],
])('%d s of a measurement are %s', (seconds, words) => {
  expect(formatSeconds(seconds)).toBe(words);
});

test('the codec of durations gives back what it took', () => {
  const codec = Duration();
  fc.assert(
    fc.property(Milliseconds, (ms) => {
      expect(codec.decode(codec.encode(ms))).toBe(ms);
    }),
  );
});

const between = Duration({ min: '1s', max: '1h' });
const atLeast = Duration({ min: '1s' });
const atMost = Duration({ max: '1h' });

test.each([
  { name: 'the lower bound is allowed', schema: between, text: '1s', problem: null },
  { name: 'the upper bound is allowed', schema: between, text: '60m', problem: null },
  { name: 'below both bounds', schema: between, text: '999ms', problem: 'must be at least 1s and at most 1h' },
  { name: 'above both bounds', schema: between, text: '61m', problem: 'must be at least 1s and at most 1h' },
  { name: 'below the only bound', schema: atLeast, text: '10ms', problem: 'must be at least 1s' },
  { name: 'above the only bound', schema: atMost, text: '2h', problem: 'must be at most 1h' },
  {
    name: 'no unit',
    schema: between,
    text: '30',
    problem: 'expected a duration with its unit, such as "30s", "800ms" or "1m30s"',
  },
  {
    name: 'a number',
    schema: between,
    text: 30,
    problem: 'expected a duration with its unit, such as "30s", "800ms" or "1m30s"',
  },
])('a bounded duration: $name', ({ schema, text, problem }) => {
  expect(schema.safeParse(text).error?.issues[0]?.message ?? null).toBe(problem);
});

test('without bounds a duration beyond what can be counted exactly is refused in words', () => {
  const message = Duration().safeParse(`${'9'.repeat(30)}d`).error?.issues[0]?.message;
  expect(message).toBe('is too long to be counted');
});

test('a bound that is no duration is a mistake of the program', () => {
  expect(() => Duration({ min: 'soon' })).toThrow('"soon" is not a duration');
});

test.each([
  ['0%', 0],
  ['20%', 0.2],
  ['99.9%', 0.999],
  ['100%', 1],
])('%s is the ratio %d', (text, ratio) => {
  expect(Percentage().parse(text)).toBeCloseTo(ratio, 12);
});

test.each(['20', '101%', '100.1%', '-1%', '1000%', '%'])('"%s" is no percentage', (text) => {
  expect(Percentage().safeParse(text).success).toBe(false);
});

test('the codec of percentages gives back what it took', () => {
  const codec = Percentage();
  fc.assert(
    fc.property(fc.nat(10_000), (steps) => {
      expect(codec.decode(codec.encode(steps / 1e4))).toBeCloseTo(steps / 1e4, 12);
    }),
  );
});

test.each([
  ['1B', 1],
  ['64KiB', 65_536],
  ['1MB', 1_000_000],
  ['2MiB', 2_097_152],
  ['1GB', 1_000_000_000],
])('%s are %i bytes', (text, bytes) => {
  const codec = Size({ min: 1, max: 2 ** 31 });
  expect(codec.parse(text)).toBe(bytes);
  expect(codec.decode(codec.encode(bytes))).toBe(bytes);
});

test.each([
  ['64', 'expected a size with its unit, such as "64KiB"'],
  ['1.5MB', 'expected a size with its unit, such as "64KiB"'],
  ['0B', 'must be from 1B to 1000B'],
  ['1KiB', 'must be from 1B to 1000B'],
])('the size "%s" is refused', (text, message) => {
  expect(Size({ min: 1, max: 1_000 }).safeParse(text).error?.issues[0]?.message).toBe(message);
});
