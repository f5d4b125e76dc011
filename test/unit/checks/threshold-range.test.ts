import { expect, test } from 'vitest';
import { isAlerting, parseThresholdRange } from '#checks/threshold-range.ts';
import { ThresholdText } from '#checks/threshold-text.ts';

// The table of the Monitoring Plugins Development Guidelines, "Threshold and Ranges", with values on both sides of each bound.
test.each<readonly [range: string, alerting: readonly number[], good: readonly number[]]>([
  ['10', [-0.1, -1, 10.1, 11], [0, 5, 10]],
  ['10:', [9.9, -1], [10, 11, 1e9]],
  ['~:10', [10.1, 11], [-1e9, 0, 10]],
  ['10:20', [9.9, 20.1], [10, 15, 20]],
  ['@10:20', [10, 15, 20], [9.9, 20.1]],
  ['@0:5', [0, 5], [-0.1, 5.1]],
  ['~:100', [100.5], [-5, 100]],
  ['0:0', [-1, 1], [0]],
  ['-20:-10', [-21, -9], [-20, -10]],
  ['@~:0', [-5, 0], [0.1]],
  ['1.5e3', [1_501, -1], [0, 1_500]],
])('range %s', (text, alerting, good) => {
  const range = parseThresholdRange(text);
  if (range === null) throw new Error(`${text} is no range`);
  expect(alerting.filter((value) => !isAlerting(value, range))).toEqual([]);
  expect(good.filter((value) => isAlerting(value, range))).toEqual([]);
});

test.each(['', ':', '@', '~', '~:', '@:', '20:10', 'a', '10:b', '10::20', '1 0', '10:20:30', '@@10'])(
  '"%s" is no range',
  (text) => {
    expect(parseThresholdRange(text)).toBeNull();
    expect(ThresholdText.safeParse(text).success).toBe(false);
  },
);

test('a number in the configuration is a range up to it', () => {
  expect(ThresholdText.parse(10)).toBe('10');
});
