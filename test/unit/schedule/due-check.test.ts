import { assert, constantFrom, integer, oneof, property, record, string } from 'fast-check';
import { expect, test } from 'vitest';
import { createDueCheck } from '#schedule/due-check.ts';
import { createNextDue, type Schedule } from '#schedule/schedule.ts';
import { slotWidths } from '#schedule/slots.ts';

const now = Date.parse('2026-03-29T00:30:00Z');
const exact = { laterMs: 0, isLongAgo: false };

const schedules = oneof(
  integer({ min: 20, max: 600_000 }).map((everyMs): Schedule => ({ kind: 'every', everyMs })),
  constantFrom('* * * * *', '*/20 * * * * *', '5 2,3 * * *').map((pattern): Schedule => ({
    kind: 'cron',
    pattern,
    timezone: 'Europe/Berlin',
  })),
);
const slots = record({
  ms: constantFrom(...slotWidths),
  since: integer({ min: now - 7_200_000, max: now + 7_200_000 }),
  beforeMs: constantFrom(...slotWidths),
});
const moments = integer({ min: now - 86_400_000, max: now + 86_400_000 });

test('every due time is one, over changes of summer time too, and no other moment is', () => {
  assert(
    property(
      schedules,
      slots,
      string(),
      moments,
      integer({ min: 1, max: 30_000 }),
      (schedule, width, name, at, later) => {
        const cut = { ...schedule, slots: width };
        const next = createNextDue(cut, name);
        const due = next(at) ?? 0;
        const isDue = createDueCheck(cut, name);
        expect(isDue(due, exact)).toBe(true);
        const isNear = Math.abs(due + later - width.since) <= 300_000;
        if (!isNear) expect(isDue(due + later, exact)).toBe(next(due + later - 1) === due + later);
      },
    ),
  );
});

test('around a change of the slots both widths count; long ago any does', () => {
  const every = { kind: 'every', everyMs: 60_000 } as const;
  const since = now;
  const dueIn = (name: string, ms: number, after: number) =>
    createNextDue({ ...every, slots: { ms, since: 0, beforeMs: ms } }, name)(after) ?? 0;
  const all = (name: string) => [1_000, 10, 500].map((ms) => dueIn(name, ms, now));
  const name =
    Array.from({ length: 100 }, (_, index) => `shop${index}`).find((one) => new Set(all(one)).size === 3) ?? '';
  const isDue = createDueCheck({ ...every, slots: { ms: 10, since, beforeMs: 1_000 } }, name);
  const dueBy = (ms: number, after: number) => dueIn(name, ms, after);
  const [coarse = 0, fine = 0, other = 0] = all(name);
  expect([coarse, fine, other].map((due) => isDue(due, exact))).toEqual([true, true, false]);
  expect(isDue(other, { ...exact, isLongAgo: true })).toBe(true);
  expect(isDue(dueBy(1_000, now + 600_000), exact)).toBe(false);
  expect(isDue(dueBy(10, now + 600_000), exact)).toBe(true);
});

test('after the clock was set back, a due time may come as many milliseconds later', () => {
  const schedule: Schedule = { kind: 'every', everyMs: 10_000 };
  const due = createNextDue(schedule, 'shop')(now) ?? 0;
  const isDue = createDueCheck(schedule, 'shop');
  expect([0, 1, 2, 3].map((ms) => isDue(due + ms, { ...exact, laterMs: 2 }))).toEqual([true, true, true, false]);
  expect(isDue(due - 1, { ...exact, laterMs: 2 })).toBe(false);
});

test('what is no whole moment is no due time, nor is anything of a pattern that never comes', () => {
  const isDue = createDueCheck({ kind: 'every', everyMs: 1 }, 'shop');
  for (const moment of [Number.NaN, Number.POSITIVE_INFINITY, now + 0.5, 2 ** 60])
    expect(isDue(moment, exact)).toBe(false);
  const never = createDueCheck({ kind: 'cron', pattern: '0 0 30 2 *', timezone: 'UTC' }, 'shop');
  expect(never(now, exact)).toBe(false);
});
