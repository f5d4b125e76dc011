import { expect, test } from 'vitest';
import { dayBars } from '#web/pages/day-bars.ts';
import type { Past } from '#web/pages/past.ts';

const minute = 60_000;
const now = Date.parse('2026-01-10T15:00:00Z');
const past = (days: Past['days'], downMs: readonly number[]): Past => ({
  days,
  downMs,
  uptime: 0.99,
  since: now - 6 * 86_400_000,
  knownMs: 6 * 86_400_000,
  budgetLeft: null,
});

test('each day is a bar by itself, and what happened on it is said in words', () => {
  const days = [null, 'unknown', 'down', 'down', 'down', 'up', 'partial', 'up'] as const;
  const drawn = String(
    dayBars(
      past(
        days,
        [0, 0, 4, 30, 90, 0, 0, 0].map((one) => one * minute),
      ),
      now,
      '/targets/shop',
    ),
  );
  const attribute = (name: string) =>
    (new RegExp(`${name}="([^"]*)"`).exec(drawn)?.[1] ?? '').replaceAll('&quot;', '"');
  expect(attribute('data-from')).toBe('2026-01-03');
  const words = JSON.parse(attribute('data-words')) as string[];
  expect((JSON.parse(attribute('data-days')) as number[]).map((one) => words[one])).toEqual([
    'not watched',
    'unknown',
    'down for 4m',
    'down for 30m',
    'down for 1h 30m',
    'no downtime',
    'up from some places only',
    'no downtime',
  ]);
  const paths = [...drawn.matchAll(/<path class="([^"]*)" d="([^"]*)"/g)].map(([, kind, d]) => [
    kind,
    d?.match(/M/g)?.length,
  ]);
  expect(paths).toEqual([
    ['f-none', 1],
    ['hatch', 3],
    ['f-down briefly', 1],
    ['f-down awhile', 1],
    ['f-down long', 1],
    ['f-up', 2],
    ['f-partial', 1],
  ]);
  expect(attribute('aria-label')).toBe('6 days: 99 % up, down on 3 days. Use the arrow keys to read each day.');
  expect(drawn).toContain('data-href="/targets/shop"');
  expect(String(dayBars(past(days, []), now, null))).not.toContain('data-href');
});
