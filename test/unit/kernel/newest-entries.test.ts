import { expect, test } from 'vitest';
import { NewestEntries } from '#kernel/newest-entries.ts';

test('the oldest entry makes room for one more, and one that is set again is not the oldest', () => {
  const entries = new NewestEntries<string, number>(2);
  entries.set('one', 1);
  entries.set('two', 2);
  entries.set('one', 3);
  entries.set('three', 4);
  expect(['one', 'two', 'three'].map((key) => entries.get(key))).toEqual([3, undefined, 4]);
});

test('reading an entry makes it no newer, and what is deleted leaves its room', () => {
  const entries = new NewestEntries<string, number>(2);
  entries.set('one', 1);
  entries.set('two', 2);
  expect(entries.get('one')).toBe(1);
  entries.set('three', 3);
  expect(entries.has('one')).toBe(false);
  entries.delete('two');
  entries.set('four', 4);
  expect([entries.has('three'), entries.has('four')]).toEqual([true, true]);
});
