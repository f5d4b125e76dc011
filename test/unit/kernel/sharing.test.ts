import { expect, test } from 'vitest';
import { sharing } from '#kernel/sharing.ts';

test('what is the same is held once, and what is not stays apart', () => {
  const once = sharing<readonly (number | null)[]>();
  const first = once([1, null]);
  expect(once([1, null])).toBe(first);
  expect(once([1, 0])).toEqual([1, 0]);
  expect(once([1, 0])).not.toBe(first);
});
