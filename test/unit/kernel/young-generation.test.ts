import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { widenYoungGeneration } from '#kernel/young-generation.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const child = new URL('../../support/young-generation-child.ts', import.meta.url).pathname;

test('the room for new objects is widened half a minute after the start, and again where V8 took it away, and further where much is expected', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', '--expose-gc', child]);
  const room = JSON.parse(stdout) as Record<'before' | 'widened' | 'taken' | 'again' | 'much', number>;
  expect(room.before).toBeLessThan(2e6);
  expect(room.widened).toBeGreaterThanOrEqual(4e6);
  expect(room.taken).toBeLessThan(room.widened);
  expect(room.again).toBeGreaterThanOrEqual(4e6);
  expect(room.again).toBeLessThan(16e6);
  expect(room.much).toBeGreaterThanOrEqual(16e6);
  expect(room.much).toBeLessThan(32e6);
});

test('nothing is looked at any more once it is stopped', async () => {
  const clock = new FakeClock();
  const widening = widenYoungGeneration(clock);
  await clock.advance(300_000);
  expect(clock.pending).toBe(1);
  widening[Symbol.dispose]();
  expect(clock.pending).toBe(0);
});
