import { expect, test } from 'vitest';
import { pauseIn } from '#client/reply.ts';

const now = Date.parse('2026-01-01T00:00:00Z');

test.each([
  { name: 'seconds', headers: { 'retry-after': '120' }, ms: 120_000 },
  { name: 'a date', headers: { 'retry-after': 'Thu, 01 Jan 2026 00:01:00 GMT' }, ms: 60_000 },
  { name: 'a date that is over', headers: { 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, ms: 0 },
  { name: 'a year', headers: { 'retry-after': '31536000' }, ms: 300_000 },
  { name: 'a date in ten years', headers: { 'retry-after': 'Thu, 01 Jan 2036 00:00:00 GMT' }, ms: 300_000 },
  { name: 'nonsense', headers: { 'retry-after': 'soon' }, ms: null },
  { name: 'an allowance', headers: { 'x-ratelimit-remaining': '1', 'x-ratelimit-reset': '60' }, ms: null },
  { name: 'no allowance', headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '4' }, ms: 4_000 },
  { name: 'no allowance for long', headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '60' }, ms: 10_000 },
  {
    name: 'no allowance until a moment',
    headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(now / 1_000 + 3) },
    ms: 3_000,
  },
  { name: 'no allowance', headers: { 'x-ratelimit-remaining': '0' }, ms: null },
  { name: 'nothing', headers: {}, ms: null },
])('$name in the headers is a pause of $ms', ({ headers, ms }) => {
  expect(pauseIn(headers, now)).toBe(ms);
});
