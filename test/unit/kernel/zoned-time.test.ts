import { expect, test } from 'vitest';
import { dateAt, formatSpan, formatTime, isTimeZone, momentIn, monthAt, monthSpan } from '#kernel/zoned-time.ts';

const at = Date.parse;

test.each([
  { zone: 'UTC', text: '2026-03-29 00:59:59 UTC' },
  { zone: 'Europe/Berlin', text: '2026-03-29 01:59:59 +01:00' },
  { zone: 'America/New_York', text: '2026-03-28 20:59:59 -04:00' },
  { zone: 'Asia/Kathmandu', text: '2026-03-29 06:44:59 +05:45' },
  { zone: 'Africa/Abidjan', text: '2026-03-29 00:59:59 +00:00' },
])('a time in $zone reads $text', ({ zone, text }) => {
  expect(formatTime(at('2026-03-29T00:59:59Z'), zone)).toBe(text);
});

test('midnight is hour 00', () => {
  expect(formatTime(at('2026-01-01T00:00:00Z'), 'UTC')).toBe('2026-01-01 00:00:00 UTC');
});

test.each([
  { from: '2026-01-01T12:01:00Z', to: '2026-01-01T12:09:59Z', zone: 'UTC', text: '2026-01-01 12:01 to 12:09 UTC' },
  {
    from: '2026-01-01T22:50:00Z',
    to: '2026-01-01T23:10:00Z',
    zone: 'Europe/Berlin',
    text: '2026-01-01 23:50 to 2026-01-02 00:10 +01:00',
  },
  {
    from: '2026-10-25T00:30:00Z',
    to: '2026-10-25T01:30:00Z',
    zone: 'Europe/Berlin',
    text: '2026-10-25 02:30 +02:00 to 02:30 +01:00',
  },
  { from: '2026-01-01T12:01:03Z', to: '2026-01-01T12:01:59Z', zone: 'UTC', text: '2026-01-01 12:01 UTC' },
])('a span reads $text', ({ from, to, zone, text }) => {
  expect(formatSpan(at(from), at(to), zone)).toBe(text);
});

test.each([
  { month: '2026-02', zone: 'UTC', from: '2026-02-01T00:00Z', to: '2026-03-01T00:00Z' },
  { month: '2026-12', zone: 'UTC', from: '2026-12-01T00:00Z', to: '2027-01-01T00:00Z' },
  { month: '2026-03', zone: 'Europe/Berlin', from: '2026-02-28T23:00Z', to: '2026-03-31T22:00Z' },
  { month: '2026-10', zone: 'Europe/Berlin', from: '2026-09-30T22:00Z', to: '2026-10-31T23:00Z' },
  { month: '2026-11', zone: 'America/New_York', from: '2026-11-01T04:00Z', to: '2026-12-01T05:00Z' },
  { month: '2026-01', zone: 'Asia/Kathmandu', from: '2025-12-31T18:15Z', to: '2026-01-31T18:15Z' },
  { month: '2026-01', zone: 'Pacific/Kiritimati', from: '2025-12-31T10:00Z', to: '2026-01-31T10:00Z' },
  { month: '2026-01', zone: '-03:30', from: '2026-01-01T03:30Z', to: '2026-02-01T03:30Z' },
  // Clocks went from 00:00 to 01:00 on the first.
  { month: '2017-10', zone: 'America/Asuncion', from: '2017-10-01T04:00Z', to: '2017-11-01T03:00Z' },
  { month: '0001-01', zone: 'UTC', from: '0001-01-01T00:00Z', to: '0001-02-01T00:00Z' },
])('$month in $zone is from $from to $to', ({ month, zone, from, to }) => {
  const span = monthSpan(month, zone);
  expect(span).toEqual({ from: at(from), to: at(to) });
  const isWithin = [span.from - 1, span.from, span.to - 1, span.to].map((moment) => monthAt(moment, zone) === month);
  expect(isWithin).toEqual([false, true, true, false]);
});

test.each([
  { zone: 'Europe/Berlin', known: true },
  { zone: '+05:30', known: true },
  { zone: 'Europe/Berln', known: false },
  { zone: '', known: false },
])('"$zone" is a time zone: $known', ({ zone, known }) => {
  expect(isTimeZone(zone)).toBe(known);
});

test.each([
  { local: '2026-07-01T12:00:00', zone: 'UTC', utc: '2026-07-01T12:00:00.000Z' },
  { local: '2026-07-01T12:00:00', zone: 'Europe/Berlin', utc: '2026-07-01T10:00:00.000Z' },
  { local: '2026-07-01T12:00:00', zone: '+05:30', utc: '2026-07-01T06:30:00.000Z' },
  { local: '2026-03-29T01:59:59', zone: 'Europe/Berlin', utc: '2026-03-29T00:59:59.000Z' },
  { local: '2026-03-29T03:00:00', zone: 'Europe/Berlin', utc: '2026-03-29T01:00:00.000Z' },
  { local: '2026-10-25T01:59:59', zone: 'Europe/Berlin', utc: '2026-10-24T23:59:59.000Z' },
  { local: '2026-10-25T03:00:00', zone: 'Europe/Berlin', utc: '2026-10-25T02:00:00.000Z' },
  { local: '2017-10-01T00:00:00', zone: 'America/Asuncion', utc: '2017-10-01T04:00:00.000Z' },
])('$local in $zone is $utc', ({ local, zone, utc }) => {
  expect(new Date(momentIn(zone, local)).toISOString()).toBe(utc);
});

test('of a time that comes twice the first is taken, and one that is skipped counts by the offset before', () => {
  expect(formatTime(momentIn('Europe/Berlin', '2026-10-25T02:30:00'), 'Europe/Berlin')).toBe(
    '2026-10-25 02:30:00 +02:00',
  );
  expect(formatTime(momentIn('Europe/Berlin', '2026-03-29T02:30:00'), 'Europe/Berlin')).toBe(
    '2026-03-29 03:30:00 +02:00',
  );
  expect(formatTime(momentIn('America/New_York', '2026-11-01T01:30:00'), 'America/New_York')).toBe(
    '2026-11-01 01:30:00 -04:00',
  );
});

test('a date or an hour that does not exist has no moment', () => {
  for (const local of ['2026-02-29T00:00:00', '2026-01-01T24:30:00', '2026-13-01T00:00:00', 'x'])
    expect(momentIn('UTC', local)).toBeNaN();
});

test('the date is that of the zone', () => {
  expect([dateAt(at('2026-11-22T23:30:00Z'), 'Europe/Berlin'), dateAt(at('2026-11-22T23:30:00Z'), 'UTC')]).toEqual([
    '2026-11-23',
    '2026-11-22',
  ]);
});
