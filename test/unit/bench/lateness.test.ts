import { describe, expect, test } from 'vitest';
import { gridLatenessOf } from '../../bench/monitor/lateness.ts';

describe('lateness against a grid', () => {
  test('is that beyond the earliest check', () => {
    expect(gridLatenessOf([1_000, 11_005, 20_998], 10_000)).toEqual([2, 7, 0]);
  });

  test('adds up if each check waits for the interval after the last one', () => {
    expect(gridLatenessOf([0, 10_100, 20_200, 30_300], 10_000)).toEqual([0, 100, 200, 300]);
  });

  test('leaves out what follows a check at once', () => {
    expect(gridLatenessOf([0, 12, 90, 4_000, 10_001], 10_000)).toEqual([0, 1]);
    expect(gridLatenessOf([], 10_000)).toEqual([]);
  });
});
