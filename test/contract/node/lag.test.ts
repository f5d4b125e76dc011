import { expect, test } from 'vitest';
import { watchLag } from '#node/lag.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { up } from '../../support/votes.ts';

const heldUpMs = 120;

test('an outcome tells for how long the loop was held up meanwhile', async () => {
  const clock = new FakeClock();
  using lag = watchLag(clock);
  const outcome = await lag.observe(async () => {
    await clock.advance(30);
    clock.hold(heldUpMs);
    await clock.advance(30);
    return up(0.2, { facts: { loss: 0 } });
  });
  expect(outcome.facts).toEqual({ loss: 0, node_lag: 0.11 });
});

test('a stall that has only just ended is in it', async () => {
  const clock = new FakeClock();
  using lag = watchLag(clock);
  const outcome = await lag.observe(async () => {
    clock.hold(heldUpMs);
    return up();
  });
  expect(outcome.facts.node_lag).toBe(0.1);
});

test('what came before an outcome is not in it', async () => {
  const clock = new FakeClock();
  using lag = watchLag(clock);
  let release: (outcome: ReturnType<typeof up>) => void = () => {};
  const long = lag.observe(async () => new Promise((resolve) => (release = resolve)));
  clock.hold(heldUpMs);
  const after = await lag.observe(async () => up());
  expect(after.facts).not.toHaveProperty('node_lag');
  release(up());
  expect((await long).facts.node_lag).toBe(0.1);
});

test('the worst is told once', async () => {
  const clock = new FakeClock();
  using lag = watchLag(clock);
  await lag.observe(async () => {
    clock.hold(heldUpMs);
    return up();
  });
  expect(lag.worst()).toBe(0.1);
  expect(lag.worst()).toBe(0);
});

test('while no check runs nothing wakes the process', async () => {
  const clock = new FakeClock();
  using lag = watchLag(clock);
  expect(clock.pending).toBe(0);
  await lag.observe(async () => {
    expect(clock.pending).toBe(1);
    return up();
  });
  expect(clock.pending).toBe(0);
});
