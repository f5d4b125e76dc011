import { expect, test } from 'vitest';
import { WatchpostError } from '#kernel/errors.ts';
import { timeRangeOf } from '#cli/shared/time-range.ts';

const now = Date.parse('2026-11-23T10:30:00Z');
const read = (text: string, zone = 'UTC') => {
  const { from, to } = timeRangeOf(text, zone, now);
  return [from, to].map((at) => new Date(at).toISOString().slice(0, 19));
};

test.each([
  { text: '08:00..09:30', from: '2026-11-23T08:00:00', to: '2026-11-23T09:30:00' },
  { text: '10:00..10:30', from: '2026-11-23T10:00:00', to: '2026-11-23T10:30:00' },
  { text: '10:00..11:00', from: '2026-11-22T10:00:00', to: '2026-11-22T11:00:00' },
  { text: '23:00..01:15', from: '2026-11-22T23:00:00', to: '2026-11-23T01:15:00' },
  { text: '23:00..22:00', from: '2026-11-21T23:00:00', to: '2026-11-22T22:00:00' },
  { text: '10:00:30 .. 10:00:45', from: '2026-11-23T10:00:30', to: '2026-11-23T10:00:45' },
  { text: '10:00..now', from: '2026-11-23T10:00:00', to: '2026-11-23T10:30:00' },
  { text: '23:00..now', from: '2026-11-22T23:00:00', to: '2026-11-23T10:30:00' },
  { text: '2026-11-01..2026-11-02', from: '2026-11-01T00:00:00', to: '2026-11-03T00:00:00' },
  { text: '2026-11-01T22:00..2026-11-02T01:30', from: '2026-11-01T22:00:00', to: '2026-11-02T01:30:00' },
  { text: '2026-11-01 22:00..23:30', from: '2026-11-01T22:00:00', to: '2026-11-01T23:30:00' },
  { text: '2026-11-01T22:00+02:00..2026-11-01T22:00:00.000Z', from: '2026-11-01T20:00:00', to: '2026-11-01T22:00:00' },
  { text: '2026-11-01..now', from: '2026-11-01T00:00:00', to: '2026-11-23T10:30:00' },
])('$text is from $from to $to', ({ text, from, to }) => {
  expect(read(text)).toEqual([from, to]);
});

test.each([
  { text: '08:00..09:30', from: '2026-11-23T07:00:00', to: '2026-11-23T08:30:00' },
  { text: '2026-10-25..2026-10-25', from: '2026-10-24T22:00:00', to: '2026-10-25T23:00:00' },
  { text: '2026-10-25T02:30..2026-10-25T03:30', from: '2026-10-25T00:30:00', to: '2026-10-25T02:30:00' },
  { text: '2026-10-25T02:30+01:00..2026-10-25T03:30', from: '2026-10-25T01:30:00', to: '2026-10-25T02:30:00' },
])('in Berlin $text is from $from to $to in UTC', ({ text, from, to }) => {
  expect(read(text, 'Europe/Berlin')).toEqual([from, to]);
});

test.each([
  { text: '10:00', says: 'expected a span such as 10:00..11:00' },
  { text: '10:00..', says: 'expected a span' },
  { text: '10..11', says: 'expected a span' },
  { text: '25:00..26:00', says: 'expected a span' },
  { text: '10:00..11:00..12:00', says: 'expected a span' },
  { text: '2026-02-29..2026-03-01', says: 'expected a span' },
  { text: '2026-13-01T10:00Z..2026-13-01T11:00Z', says: 'expected a span' },
  { text: '10:00..2026-11-01', says: 'expected a span' },
  { text: '2026-11-01..10:00', says: 'expected a span' },
  { text: '2026-11-02..2026-10-31', says: 'ends before it begins' },
  { text: '2026-11-02T10:00..09:00', says: 'ends before it begins' },
])('$text is refused', ({ text, says }) => {
  expect(() => read(text)).toThrow(WatchpostError);
  expect(() => read(text)).toThrow(`${text}: ${says}`);
});
