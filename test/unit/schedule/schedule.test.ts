import { assert, constantFrom, integer, oneof, property, string } from 'fast-check';
import { expect, test } from 'vitest';
import { countDues, createNextDue, type Schedule } from '#schedule/schedule.ts';
import { widthFor } from '#schedule/slots.ts';

const hour = 3_600_000;
const at = (text: string) => Date.parse(text);
const iso = (moment: number | null) => (moment === null ? null : new Date(moment).toISOString());
const cron = (pattern: string, timezone = 'UTC'): Schedule => ({ kind: 'cron', pattern, timezone });

test('an interval has one moment for each target, the same after every restart', () => {
  const schedule: Schedule = { kind: 'every', everyMs: 30_000 };
  const first = createNextDue(schedule, 'shop')(at('2026-01-01T00:00:00Z'));
  const later = createNextDue(schedule, 'shop')(at('2026-01-01T05:00:00Z'));
  expect(((later ?? 0) - (first ?? 0)) % 30_000).toBe(0);
});

test('a thousand targets spread evenly over their interval and are all due within it', () => {
  const schedule: Schedule = { kind: 'every', everyMs: 30_000 };
  const start = at('2026-01-01T00:00:00Z');
  const perSecond = Array.from({ length: 30 }, () => 0);
  for (let index = 0; index < 1_000; index += 1) {
    const due = createNextDue(schedule, `target-${index}`)(start);
    const second = Math.floor(((due ?? Number.NaN) - start - 1) / 1_000);
    perSecond[second] = (perSecond[second] ?? Number.NaN) + 1;
  }
  expect(perSecond.reduce((sum, count) => sum + count)).toBe(1_000);
  expect(Math.max(...perSecond)).toBeLessThan(60);
});

test('due times follow each other without gap or repeat, whatever the schedule', () => {
  const schedules = oneof(
    integer({ min: 1_000, max: 3_600_000 }).map((everyMs): Schedule => ({ kind: 'every', everyMs })),
    constantFrom('* * * * *', '*/5 * * * *', '0 3 * * *', '*/10 * * * * *').map((pattern) =>
      cron(pattern, 'Europe/Berlin'),
    ),
  );
  const moments = integer({ min: at('2026-03-28T00:00:00Z'), max: at('2026-03-31T00:00:00Z') });
  assert(
    property(schedules, moments, string(), (schedule, moment, target) => {
      const next = createNextDue(schedule, target);
      const due = next(moment);
      if (due === null) throw new Error('this schedule never ends');
      expect(due).toBeGreaterThan(moment);
      // Nothing lies between: asked from any moment before it, it is still the next one.
      expect(next(due - 1)).toBe(due);
      expect(next(Math.floor((moment + due) / 2))).toBe(due);
    }),
    { numRuns: 200 },
  );
});

test('with other slots from some moment on no tick is left out, and none comes twice', () => {
  const schedules = oneof(
    integer({ min: 1_000, max: 600_000 }).map((everyMs): Schedule => ({ kind: 'every', everyMs })),
    constantFrom('* * * * *', '*/10 * * * * *').map((pattern) => cron(pattern)),
  );
  const start = at('2026-01-01T00:00:00Z');
  const width = constantFrom(10, 20, 50, 100, 200, 500, 1_000);
  assert(
    property(
      schedules,
      string(),
      width,
      width,
      integer({ min: 0, max: 20 }),
      (schedule, target, beforeMs, ms, index) => {
        const plain = duesOf({ ...schedule, slots: { ms: 1, since: 0, beforeMs: 1 } }, target, start);
        const since = plain[index] ?? start;
        const next = createNextDue({ ...schedule, slots: { ms, since, beforeMs } }, target);
        let last = (plain[0] ?? start) - 1_000;
        for (const moment of plain) {
          const due = next(last) ?? Number.NaN;
          expect(due).toBeLessThanOrEqual(moment);
          expect(due).toBeGreaterThan(moment - (moment <= since ? beforeMs : ms));
          last = due;
        }
      },
    ),
    { numRuns: 200 },
  );
});

function duesOf(schedule: Schedule, target: string, from: number): readonly number[] {
  const next = createNextDue(schedule, target);
  const dues: number[] = [];
  for (let due = next(from); due !== null && dues.length < 20; due = next(due)) dues.push(due);
  return dues;
}

test('due times are counted, and many are estimated from the first hundred', () => {
  const start = at('2026-01-01T00:00:00Z');
  const schedules = oneof(
    integer({ min: 1_000, max: 600_000 }).map((everyMs): Schedule => ({ kind: 'every', everyMs })),
    constantFrom('* * * * *', '*/10 * * * * *').map((pattern) => cron(pattern)),
  );
  assert(
    property(schedules, string(), integer({ min: 0, max: 3 * hour }), (schedule, target, forMs) => {
      const next = createNextDue(schedule, target);
      let exact = 0;
      for (let due = next(start); due !== null && due <= start + forMs; due = next(due)) exact += 1;
      const counted = countDues(next, start, start + forMs);
      if (exact <= 100) expect(counted).toBe(exact);
      else expect(Math.abs(counted - exact)).toBeLessThanOrEqual(1 + exact / 500);
    }),
    { numRuns: 200 },
  );
});

test('due times of ten years are counted, and those of a schedule that ends', () => {
  const start = at('2026-01-01T00:00:00Z');
  const end = at('2036-01-01T00:00:00Z');
  expect(countDues(createNextDue({ kind: 'every', everyMs: 1_000 }, 'shop'), start, end)).toBe((end - start) / 1_000);
  expect(countDues(createNextDue(cron('* * * * *'), 'shop'), start, end)).toBe((end - start) / 60_000);
  expect(countDues(createNextDue(cron('0 0 0 1 * * 2026'), 'shop'), start - 1, end)).toBe(12);
});

test.each([
  [1, 1_000],
  [6, 1_000],
  [12, 500],
  [50, 100],
  [60, 100],
  [500, 10],
  [16_700, 10],
])('%d due times a second lie in slots of %d ms', (perSecond, ms) => {
  expect(widthFor(perSecond)).toBe(ms);
});

test('a cron tick moves by less than a minute, and a daily one keeps its hour over the change to summer time', () => {
  const next = createNextDue(cron('30 3 * * *', 'Europe/Berlin'), 'shop');
  const before = next(at('2026-03-28T00:00:00Z')) ?? 0;
  const after = next(before) ?? 0;
  expect(iso(before)).toMatch(/^2026-03-28T02:30:/);
  expect(iso(after)).toMatch(/^2026-03-29T01:30:/);
});

test.each([
  { name: 'skips the hour that does not exist', pattern: '30 2 * * *', day: '2026-03-29T00:00:00Z', count: 1 },
  { name: 'runs once in the hour that comes twice', pattern: '30 2 * * *', day: '2026-10-24T22:00:00Z', count: 1 },
])('a daily pattern $name', ({ pattern, day, count }) => {
  const next = createNextDue(cron(pattern, 'Europe/Berlin'), 'shop');
  let runs = 0;
  for (let due = next(at(day)); due !== null && due < at(day) + 24 * hour; due = next(due)) runs += 1;
  expect(runs).toBe(count);
});

test('a pattern that never comes again has no due time', () => {
  expect(createNextDue(cron('0 0 0 1 1 * 2020'), 'shop')(at('2026-01-01T00:00:00Z'))).toBeNull();
});

test.each([
  { everyMs: 10_000, width: 1_000 },
  { everyMs: 9_999, width: 100 },
  { everyMs: 1_000, width: 100 },
  { everyMs: 999, width: 1 },
])(
  'an interval of $everyMs ms has ten slots at least, or those of the usual width: $width ms',
  ({ everyMs, width }) => {
    const slots = { ms: 1_000, since: 0, beforeMs: 1_000 };
    const dues = Array.from({ length: 200 }, (_, index) =>
      createNextDue({ kind: 'every', everyMs, slots }, `t${index}`)(at('2026-01-01T00:00:00Z')),
    );
    const divides = (ms: number) => dues.every((due) => (due ?? 0) % ms === 0);
    expect([divides(width), divides(width * 10)]).toEqual([true, false]);
  },
);
