import { expect, test } from 'vitest';
import { ageOf } from '../../../src/web/browser/age.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

test.for([
  [-minute, 'just now'],
  [0, 'just now'],
  [minute - 1, 'just now'],
  [8 * minute, '8 min ago'],
  [hour - 1, '59 min ago'],
  [hour, '1 h ago'],
  [2 * day - 1, '47 h ago'],
  [2 * day, '2 days ago'],
  [30 * day - 1, '29 days ago'],
] as const)('an age of %i ms is "%s"', ([ms, words]) => expect(ageOf(ms)).toBe(words));

test('the exact time is shown of what is a month old, and of what lies ahead', () => {
  expect(ageOf(30 * day)).toBeNull();
  expect(ageOf(-minute - 1)).toBeNull();
});
