import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Hours, isWithin, nextBeginning } from '#monitor/notify/hours.ts';

const weekdays = [1, 2, 3, 4, 5];
const office: Hours = { zone: 'Europe/Berlin', ranges: [{ days: weekdays, from: 8 * 60, to: 18 * 60 }] };
const night: Hours = { zone: 'Europe/Berlin', ranges: [{ days: [5], from: 22 * 60, to: 6 * 60 }] };

test.each([
  { at: '2026-01-05T06:59:59Z', hours: office, within: false, name: 'before hours in winter' },
  { at: '2026-01-05T07:00:00Z', hours: office, within: true, name: 'when hours begin in winter' },
  { at: '2026-07-06T06:00:00Z', hours: office, within: true, name: 'when hours begin in summer' },
  { at: '2026-07-06T05:59:59Z', hours: office, within: false, name: 'before hours in summer' },
  { at: '2026-01-05T16:59:59Z', hours: office, within: true, name: 'before hours end' },
  { at: '2026-01-05T17:00:00Z', hours: office, within: false, name: 'when hours end' },
  { at: '2026-01-04T12:00:00Z', hours: office, within: false, name: 'on a Sunday' },
  { at: '2026-01-09T21:30:00Z', hours: night, within: true, name: 'in the evening of the day that it begins on' },
  { at: '2026-01-10T04:59:00Z', hours: night, within: true, name: 'in the morning after it' },
  { at: '2026-01-10T05:00:00Z', hours: night, within: false, name: 'at the end of the morning after it' },
  { at: '2026-01-09T04:00:00Z', hours: night, within: false, name: 'in the morning before it' },
])('$name, it is within: $within', ({ at, hours, within }) => {
  expect(isWithin(hours, Date.parse(at))).toBe(within);
});

describe('hours begin next', () => {
  test.each([
    { name: 'the same day', at: '2026-01-05T03:00:00Z', next: '2026-01-05T07:00:00Z' },
    { name: 'the next day', at: '2026-01-05T18:00:00Z', next: '2026-01-06T07:00:00Z' },
    { name: 'after a weekend', at: '2026-01-09T18:00:00Z', next: '2026-01-12T07:00:00Z' },
    { name: 'after a weekend on which clocks go forward', at: '2026-03-27T18:00:00Z', next: '2026-03-30T06:00:00Z' },
    { name: 'after a weekend on which clocks go back', at: '2026-10-23T18:00:00Z', next: '2026-10-26T07:00:00Z' },
  ])('$name', ({ at, next }) => {
    expect(new Date(nextBeginning(office, Date.parse(at))).toISOString()).toBe(new Date(next).toISOString());
  });

  test('at the end of the hour that a day leaves out', () => {
    const hours: Hours = { zone: 'Europe/Berlin', ranges: [{ days: [0], from: 2 * 60 + 30, to: 12 * 60 }] };
    const next = nextBeginning(hours, Date.parse('2026-03-28T12:00:00Z'));
    expect(new Date(next).toISOString()).toBe('2026-03-29T01:00:00.000Z');
    expect(isWithin(hours, next)).toBe(true);
    expect(isWithin(hours, next - 1)).toBe(false);
  });
});

test('hours that begin are always later, at a time that is within them', () => {
  const range = fc.record({
    days: fc.uniqueArray(fc.nat(6), { minLength: 1 }),
    from: fc.nat(1_439),
    length: fc.integer({ min: 90, max: 1_200 }),
  });
  const zone = fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu');
  const moment = fc.integer({ min: Date.parse('2026-01-01'), max: Date.parse('2028-01-01') });
  fc.assert(
    fc.property(fc.array(range, { minLength: 1, maxLength: 3 }), zone, moment, (ranges, zone, at) => {
      const hours = {
        zone,
        ranges: ranges.map(({ length, ...one }) => ({ ...one, to: (one.from + length) % 1_440 || 1_440 })),
      };
      const next = nextBeginning(hours, at);
      return next > at && isWithin(hours, next);
    }),
    { numRuns: 200 },
  );
});
