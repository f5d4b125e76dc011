import { expect, test } from 'vitest';
import { isSameList, ListPool } from '#kernel/lists.ts';

test('of equal lists the first one is shared', () => {
  const pool = new ListPool<string>();
  const first = pool.shared(['de1', 'us1']);
  expect(pool.shared(['de1', 'us1'])).toBe(first);
  expect(pool.shared(['de1'])).toEqual(['de1']);
  expect(pool.shared(['de1', 'us1'])).toBe(first);
});

test('a list with other items, or in another order, stays what it is', () => {
  const pool = new ListPool<string>();
  pool.shared(['de1', 'us1']);
  for (const list of [['us1', 'de1'], ['de1', 'jp1'], ['de1'], []]) expect(pool.shared(list)).toBe(list);
});

test('lists are the same if their items are the very same', () => {
  const item = {};
  expect(isSameList([item], [item])).toBe(true);
  expect(isSameList([item], [{}])).toBe(false);
  expect(isSameList([item], [item, item])).toBe(false);
});
