import { expect, test } from 'vitest';
import { longestMonthMs } from '#history/budget.ts';
import { createBudgets } from '#monitor/judge/budgets.ts';

const minute = 60_000;
const at = Date.parse;

test('the budget of a calendar month is whole again at its first midnight, in its time zone', () => {
  const budgets = createBudgets();
  for (const zone of ['UTC', 'Europe/Berlin'])
    budgets.keep(zone, { ratio: 0.999, overMs: longestMonthMs, monthIn: zone });
  const spentAt = (now: string) =>
    Object.fromEntries(budgets.left(at(now)).map(({ target, spentMs }) => [target, spentMs / minute]));
  const see = (time: string, status: 'up' | 'down') => {
    for (const zone of ['UTC', 'Europe/Berlin'])
      budgets.note(zone, at(time), { status, inMaintenance: false, holdsMs: 10 * minute });
  };
  // Midnight in Berlin is 22:00 in UTC.
  see('2026-05-31T21:55Z', 'down');
  see('2026-05-31T22:00Z', 'down');
  expect(spentAt('2026-05-31T22:00Z')).toEqual({ UTC: 5, 'Europe/Berlin': 5 });
  expect(spentAt('2026-05-31T22:04Z')).toEqual({ UTC: 9, 'Europe/Berlin': 4 });
  see('2026-05-31T22:05Z', 'up');
  see('2026-06-01T00:10Z', 'up');
  expect(spentAt('2026-06-01T00:00Z')).toEqual({ UTC: 10, 'Europe/Berlin': 5 });
  expect(spentAt('2026-06-01T00:10Z')).toEqual({ UTC: 0, 'Europe/Berlin': 5 });
  expect(budgets.left(at('2026-06-01T00:10Z'), 'UTC')).toEqual([
    expect.objectContaining({ left: 1, allowedMs: 43.2 * minute, monthIn: 'UTC' }),
  ]);
});
