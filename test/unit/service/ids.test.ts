import { expect, test } from 'vitest';
import { systemRandom } from '#kernel/random.ts';
import { createIds } from '#service/checks.ts';

test('identifiers share a beginning with their neighbours only, and nothing else with any other', () => {
  const nextId = createIds(systemRandom);
  const ids = Array.from({ length: 6_400 }, nextId);
  for (const id of ids) expect(id).toMatch(/^[0-9A-Za-z]{20}$/);
  expect(new Set(ids.map((id) => id.slice(3))).size).toBe(ids.length);
  const beginnings = ids.map((id) => id.slice(0, 3));
  const changes = beginnings.filter((beginning, index) => beginning !== beginnings[index - 1]);
  expect(changes.length).toBeLessThanOrEqual(100);
  expect(new Set(changes).size).toBeGreaterThan(90);
  // Neither grow with time.
  expect(changes).not.toEqual(changes.toSorted());
  expect(ids.slice(0, 64)).not.toEqual(ids.slice(0, 64).toSorted());
});
