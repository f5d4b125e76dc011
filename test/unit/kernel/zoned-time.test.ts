import { expect, test } from 'vitest';
import { formatSpan, formatTime } from '#kernel/zoned-time.ts';

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
])('a span reads $text', ({ from, to, zone, text }) => {
  expect(formatSpan(at(from), at(to), zone)).toBe(text);
});
