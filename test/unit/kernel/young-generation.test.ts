import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { nextLookMs, widenYoungGeneration } from '#kernel/young-generation.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const child = new URL('../../support/young-generation-child.ts', import.meta.url).pathname;

test('the room for new objects is widened half a minute after the start, and again where V8 took it away, and further where much is expected', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', '--expose-gc', child]);
  const room = JSON.parse(stdout) as Record<'before' | 'widened' | 'taken' | 'again' | 'much', number> &
    Record<'busyWaits' | 'quietWaits', readonly number[]>;
  expect(room.before).toBeLessThan(2e6);
  expect(room.widened).toBeGreaterThanOrEqual(4e6);
  expect(room.taken).toBeLessThan(room.widened);
  expect(room.again).toBeGreaterThanOrEqual(4e6);
  expect(room.again).toBeLessThan(16e6);
  expect(room.much).toBeGreaterThanOrEqual(16e6);
  expect(room.much).toBeLessThan(32e6);
  // Where it is collected again and again, no growth may go unseen.
  expect(new Set(room.busyWaits.filter((ms) => ms < 60_000))).toEqual(new Set([100]));
  expect(room.busyWaits.length).toBeGreaterThan(1);
  expect(room.quietWaits.indexOf(60_000)).toBeLessThan(15);
  expect(room.quietWaits).toContain(1_000);
});

test('nothing is looked at any more once it is stopped', async () => {
  const clock = new FakeClock();
  const widening = widenYoungGeneration(clock);
  await clock.advance(300_000);
  expect(clock.pending).toBe(1);
  widening[Symbol.dispose]();
  expect(clock.pending).toBe(0);
});

test('the next look is before the room is full again, and a thread that makes little is looked at each second', () => {
  const empty = { used: 0, available: 1_000_000 };
  expect(nextLookMs(empty, { used: 200_000, available: 800_000 }, 100)).toBe(400);
  expect(nextLookMs(empty, { used: 900_000, available: 100_000 }, 100)).toBe(100);
  expect(nextLookMs(empty, { used: 20_000, available: 980_000 }, 100)).toBe(1_000);
  expect(nextLookMs(empty, empty, 1_000)).toBe(1_000);
  expect(nextLookMs({ used: 5, available: 0 }, { used: 5, available: 0 }, 100)).toBe(1_000);
});

test('after a collection the next look is soon', () => {
  const full = { used: 900_000, available: 100_000 };
  expect(nextLookMs(full, { used: 300_000, available: 700_000 }, 1_000)).toBe(100);
});
