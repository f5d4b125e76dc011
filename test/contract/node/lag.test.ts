import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { systemClock } from '#kernel/clock.ts';
import { watchLag } from '#node/lag.ts';
import { up } from '../../support/votes.ts';

const heldUpMs = 120;

function holdUp(): void {
  const end = performance.now() + heldUpMs;
  while (performance.now() < end);
}

test('an outcome tells for how long the loop was held up meanwhile', async () => {
  using lag = watchLag(systemClock);
  const outcome = await lag.observe(async () => {
    await pause(30);
    holdUp();
    return up(0.2, { facts: { loss: 0 } });
  });
  expect(outcome.facts.loss).toBe(0);
  expect(outcome.facts.node_lag).toBeGreaterThanOrEqual((heldUpMs - 30) / 1e3);
});

test('what came before an outcome is not in it', async () => {
  using lag = watchLag(systemClock);
  await pause(30);
  holdUp();
  await pause(30);
  const before = await lag.observe(async () => up());
  const after = await lag.observe(async () => up());
  for (const { facts } of [before, after]) expect(facts.node_lag ?? 0).toBeLessThan(heldUpMs / 2e3);
});

test('the worst is told once', async () => {
  using lag = watchLag(systemClock);
  await pause(30);
  holdUp();
  await pause(30);
  expect(lag.worst()).toBeGreaterThanOrEqual((heldUpMs - 30) / 1e3);
  expect(lag.worst()).toBeLessThan(heldUpMs / 2e3);
});
