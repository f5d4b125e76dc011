import { expect, test } from 'vitest';
import { createRefusals } from '#monitor/notify/refusals.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { memoryLog } from '../../../support/memory-log.ts';

const limitMs = 300_000;

test('it is cut off while attempts fail and nobody has answered through any channel for a while', async () => {
  const clock = new FakeClock();
  const refusals = createRefusals(clock, memoryLog().log);
  expect(refusals.isCutOff(limitMs)).toBe(false);
  refusals.unreached('email');
  expect(refusals.isCutOff(limitMs)).toBe(true);
  // An answer of any kind, and through any channel, says that somebody can be reached.
  refusals.reached('slack');
  expect(refusals.isCutOff(limitMs)).toBe(false);
  await clock.advance(limitMs - 1);
  refusals.unreached('slack');
  expect(refusals.isCutOff(limitMs)).toBe(false);
  await clock.advance(1);
  expect(refusals.isCutOff(limitMs)).toBe(true);
  refusals.reached('email');
  expect(refusals.isCutOff(limitMs)).toBe(false);
});

test('without a failed attempt nothing is known, and it is not cut off', async () => {
  const clock = new FakeClock();
  const refusals = createRefusals(clock, memoryLog().log);
  refusals.reached('email');
  await clock.advance(10 * limitMs);
  expect(refusals.isCutOff(limitMs)).toBe(false);
});

test('it is not cut off while one address fails that never answered, and there is nothing to send to others', async () => {
  const clock = new FakeClock();
  const refusals = createRefusals(clock, memoryLog().log);
  refusals.reached('email');
  await clock.advance(10 * limitMs);
  refusals.unreached('push without a device');
  await clock.advance(10 * limitMs);
  expect(refusals.isCutOff(limitMs)).toBe(false);
});

test('it is not cut off while one address fails that failed already when another one answered, or just after that', async () => {
  const clock = new FakeClock();
  const refusals = createRefusals(clock, memoryLog().log);
  for (const address of ['email', 'hook']) refusals.reached(address);
  await clock.advance(10 * limitMs);
  refusals.reached('email');
  await clock.advance(100);
  refusals.unreached('hook');
  await clock.advance(10 * limitMs);
  refusals.unreached('hook');
  expect(refusals.isCutOff(limitMs)).toBe(false);
  refusals.unreached('email');
  expect(refusals.isCutOff(limitMs)).toBe(true);
});

test('it is cut off if all fail, however shortly before that they answered', async () => {
  const clock = new FakeClock();
  const refusals = createRefusals(clock, memoryLog().log);
  for (const address of ['email', 'hook']) refusals.reached(address);
  await clock.advance(20_000);
  refusals.unreached('email');
  await clock.advance(limitMs);
  expect(refusals.isCutOff(limitMs)).toBe(false);
  refusals.unreached('hook');
  expect(refusals.isCutOff(limitMs)).toBe(true);
  refusals.reached('hook');
  expect(refusals.isCutOff(limitMs)).toBe(false);
});
