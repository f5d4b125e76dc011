import { expect, test } from 'vitest';
import { toldOf } from '#cli/control/control.ts';
import { upOf } from '#cli/shared/figures.ts';

test('how many targets are up is said as people say it', () => {
  expect([upOf(1, 1), upOf(0, 1), upOf(1, 2), upOf(0, 2), upOf(2, 3)]).toEqual([
    '1 of 1 target is up',
    '0 of 1 target is up',
    '1 of 2 targets is up',
    '0 of 2 targets are up',
    '2 of 3 targets are up',
  ]);
});

test.each([
  { states: [], says: 'nobody to tell' },
  { states: ['pending'], says: 'to be told' },
  { states: ['dead', 'pending'], says: 'to be told' },
  { states: ['dead'], says: 'could not be told' },
  { states: ['pending', 'sent'], says: 'told' },
])('an incident with deliveries $states is one of which people were: $says', ({ states, says }) => {
  expect(toldOf(states.map((state) => ({ state })))).toBe(says);
});
