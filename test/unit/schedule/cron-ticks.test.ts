import { Cron } from 'croner';
import * as fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { cronTicks } from '#schedule/cron-ticks.ts';

const at = (text: string) => Date.parse(text);
// Both clocks go forward and back in these spans.
const spans = [at('2026-03-27T00:00:00Z'), at('2026-10-24T00:00:00Z'), at('2026-04-03T00:00:00Z')] as const;
const moment = fc.tuple(fc.constantFrom(...spans), fc.nat(4 * 86_400_000)).map(([from, ms]) => from + ms);
const near = fc.array(fc.nat(3 * 3_600_000), { maxLength: 30 });

test.each([
  ['* * * * *', 'UTC'],
  ['*/10 * * * * *', 'Europe/Berlin'],
  ['30 2 * * *', 'Europe/Berlin'],
  ['*/20 1-3 * * *', 'Australia/Lord_Howe'],
  ['0 0 1 1 *', 'UTC'],
  ['0 0 0 1 1 * 2026', 'UTC'],
])('whoever asks for the ticks of %s in %s, and in whatever order, hears those of the pattern', (pattern, timezone) => {
  const cron = new Cron(pattern, { timezone, paused: true });
  fc.assert(
    fc.property(moment, near, (from, steps) => {
      for (const step of steps) {
        const after = from + step;
        expect(cronTicks(pattern, timezone)(after)).toBe(cron.nextRun(new Date(after))?.getTime() ?? null);
      }
    }),
    { numRuns: 40 },
  );
});

test('ticks that follow each other are those of the pattern, for as many as one asks', () => {
  const cron = new Cron('*/7 * * * *', { timezone: 'Europe/Berlin', paused: true });
  const ticks = cronTicks('*/7 * * * *', 'Europe/Berlin');
  let [next, expected] = [ticks(spans[1]), cron.nextRun(new Date(spans[1]))];
  for (let count = 0; count < 1_000; count += 1) {
    expect(next).toBe(expected?.getTime());
    [next, expected] = [ticks(next ?? 0), cron.nextRun(expected)];
  }
});

test('a wrong pattern or zone throws each time', () => {
  for (const _ of [1, 2]) {
    expect(() => cronTicks('61 * * * *', 'UTC')).toThrow();
    expect(() => cronTicks('1 1 * * *', 'Nowhere/At_All')(at('2026-01-01T00:00:00Z'))).toThrow();
  }
});

test('after a clock that was years ahead has been set back, ticks are shared again', () => {
  const ticks = cronTicks('1-59/3 * * * *', 'UTC');
  ticks(at('2036-01-01T00:00:00Z'));
  using nextRun = vi.spyOn(Cron.prototype, 'nextRun');
  for (let count = 0; count < 1_000; count += 1)
    expect(ticks(at('2026-01-01T00:00:00Z') + count)).toBe(at('2026-01-01T00:01:00Z'));
  expect(nextRun.mock.calls.length).toBeLessThan(200);
});
