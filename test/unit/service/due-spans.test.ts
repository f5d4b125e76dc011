import { describe, expect, test } from 'vitest';
import { DueSpans } from '#service/due-spans.ts';

const now = 1_000_000_000;

/** What was added, looked at one by one. */
function within(added: readonly (readonly [number, number])[], dueAt: number): boolean {
  return added.some(([from, until]) => from <= dueAt && dueAt <= until);
}

describe('spans in which results were skipped', () => {
  test('has what was due from the first to the last moment, of that node only', () => {
    const spans = new DueSpans();
    spans.add('a', { from: now + 10, until: now + 20 }, now);
    expect([9, 10, 15, 20, 21].map((at) => spans.has('a', now + at))).toEqual([false, true, true, true, false]);
    expect(spans.has('b', now + 15)).toBe(false);
  });

  test.each<[string, (readonly [number, number])[]]>([
    [
      'one after the other',
      [
        [0, 5],
        [10, 15],
        [20, 25],
      ],
    ],
    [
      'the latest first',
      [
        [20, 25],
        [10, 15],
        [0, 5],
      ],
    ],
    [
      'one over the gap between two',
      [
        [0, 5],
        [10, 15],
        [4, 11],
      ],
    ],
    [
      'one around all',
      [
        [10, 12],
        [20, 22],
        [30, 32],
        [5, 40],
      ],
    ],
    [
      'one within another',
      [
        [5, 40],
        [10, 12],
      ],
    ],
    [
      'moments that touch',
      [
        [0, 5],
        [5, 9],
        [12, 12],
        [9, 9],
      ],
    ],
    [
      'one between two, apart from both',
      [
        [0, 2],
        [20, 22],
        [10, 12],
      ],
    ],
  ])('%s: has each moment of each', (_, added) => {
    const spans = new DueSpans();
    for (const [from, until] of added) spans.add('a', { from: now + from, until: now + until }, now);
    const moments = Array.from({ length: 50 }, (__, at) => at - 2);
    expect(moments.filter((at) => spans.has('a', now + at))).toEqual(moments.filter((at) => within(added, at)));
  });

  test('forgets what was over ten minutes ago', () => {
    const spans = new DueSpans();
    spans.add('a', { from: now, until: now + 10 }, now);
    spans.add('a', { from: now + 500_000, until: now + 500_010 }, now + 500_000);
    expect(spans.has('a', now)).toBe(true);
    spans.add('a', { from: now + 601_000, until: now + 601_010 }, now + 601_000);
    expect([0, 500_000, 601_000].map((at) => spans.has('a', now + at))).toEqual([false, true, true]);
  });

  test('keeps the latest two hundred', () => {
    const spans = new DueSpans();
    for (let index = 0; index < 300; index += 1)
      spans.add('a', { from: now + index * 10, until: now + index * 10 + 5 }, now);
    const kept = Array.from({ length: 300 }, (_, index) => index).filter((at) => spans.has('a', now + at * 10));
    expect(kept).toEqual(Array.from({ length: 200 }, (_, index) => index + 100));
  });
});
