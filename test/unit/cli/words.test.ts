import { expect, test } from 'vitest';
import { notificationStateOf } from '#cli/control/control.ts';
import { formatUpCount } from '#cli/shared/figures.ts';

test('how many targets are up is said as people say it', () => {
  expect([
    formatUpCount(1, 1),
    formatUpCount(0, 1),
    formatUpCount(1, 2),
    formatUpCount(0, 2),
    formatUpCount(2, 3),
  ]).toEqual([
    '1 of 1 target is up',
    '0 of 1 target is up',
    '1 of 2 targets is up',
    '0 of 2 targets are up',
    '2 of 3 targets are up',
  ]);
});

test.each([
  { states: [], says: 'no recipients' },
  { states: ['pending'], says: 'pending' },
  { states: ['dead', 'pending'], says: 'pending' },
  { states: ['dead'], says: 'failed' },
  { states: ['pending', 'sent'], says: 'notified' },
])('an incident with deliveries $states is one whose notification state is: $says', ({ states, says }) => {
  expect(notificationStateOf(states.map((state) => ({ state })))).toBe(says);
});
