import { expect, test } from 'vitest';
import type { Outcome } from '#checks/index.ts';
import { type Closeness, type LagWatch, watchLag } from '#node/lag.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { up } from '../../support/votes.ts';

const heldUpMs = 120;
const closely = 'closely';
const inPassing = 'in passing';

async function observe(lag: LagWatch, probe: () => Promise<Outcome>, how: Closeness) {
  using observation = lag.observe(how);
  return observation.withLag(await probe());
}

test('an outcome tells for how long the loop was held up meanwhile', async () => {
  const clock = new FakeClock();
  using lag = watchLag(clock);
  const outcome = await observe(
    lag,
    async () => {
      await clock.advance(30);
      clock.hold(heldUpMs);
      await clock.advance(30);
      return up(0.2, { facts: { loss: 0 } });
    },
    closely,
  );
  expect(outcome.facts).toEqual({ loss: 0, node_lag: 0.11 });
});

test('a stall that has only just ended is in it', async () => {
  const clock = new FakeClock();
  using lag = watchLag(clock);
  const outcome = await observe(
    lag,
    async () => {
      clock.hold(heldUpMs);
      return up();
    },
    closely,
  );
  expect(outcome.facts.node_lag).toBe(0.1);
});

test('what is looked at loosely is so every 100 ms, and closely once the thread was held up', async () => {
  const clock = new FakeClock();
  using lag = watchLag(clock);
  using _ = lag.observe('loosely');
  await clock.advance(70);
  // This one is over when the next look comes.
  clock.hold(25);
  await clock.advance(5);
  expect(lag.worst()).toBe(0);
  await clock.advance(90);
  clock.hold(60);
  await clock.advance(0);
  expect(lag.worst()).toBe(0.05);
  for (let stall = 0; stall < 30; stall += 1) {
    await clock.advance(25);
    clock.hold(75);
  }
  await clock.advance(0);
  expect(lag.clock.heldUpMs?.()).toBeGreaterThan(30 * 55);
});

test('a check that has to know it closely is not kept waiting by one that does not', async () => {
  const clock = new FakeClock();
  using lag = watchLag(clock);
  using _ = lag.observe('loosely');
  await clock.advance(10);
  const outcome = await observe(
    lag,
    async () => {
      await clock.advance(10);
      clock.hold(60);
      await clock.advance(0);
      return up();
    },
    closely,
  );
  expect(outcome.facts.node_lag).toBe(0.05);
});

test('what came before an outcome is not in it', async () => {
  const clock = new FakeClock();
  using lag = watchLag(clock);
  let release: (outcome: ReturnType<typeof up>) => void = () => {};
  const long = observe(lag, async () => new Promise((resolve) => (release = resolve)), closely);
  clock.hold(heldUpMs);
  const after = await observe(lag, async () => up(), closely);
  expect(after.facts).not.toHaveProperty('node_lag');
  release(up());
  expect((await long).facts.node_lag).toBe(0.1);
});

test('the worst is told once', async () => {
  const clock = new FakeClock();
  using lag = watchLag(clock);
  await observe(
    lag,
    async () => {
      clock.hold(heldUpMs);
      return up();
    },
    closely,
  );
  expect(lag.worst()).toBe(0.1);
  expect(lag.worst()).toBe(0);
});

test('while no check runs nothing wakes the process', async () => {
  const clock = new FakeClock();
  using lag = watchLag(clock);
  expect(clock.pending).toBe(0);
  await observe(
    lag,
    async () => {
      expect(clock.pending).toBe(1);
      return up();
    },
    closely,
  );
  expect(clock.pending).toBe(0);
});

test('a check that need not know closely sets no timer, and is told by one that came late', async () => {
  const clock = new FakeClock();
  using lag = watchLag(clock);
  const outcome = await observe(
    lag,
    async () => {
      expect(clock.pending).toBe(0);
      const { promise, resolve } = Promise.withResolvers<void>();
      lag.clock.after(30, resolve);
      clock.hold(heldUpMs);
      await clock.advance(0);
      await promise;
      return up();
    },
    inPassing,
  );
  expect([outcome.facts.node_lag, lag.worst(), clock.pending]).toEqual([0.09, 0.09, 0]);
});

test.each([
  { name: 'on time', setMs: 100, heldUpMs: 100 },
  { name: 'for now that was to come long ago', setMs: -100, heldUpMs: 0 },
  { name: 'a moment late', setMs: 100, heldUpMs: 104 },
])('a timer that comes $name tells of nothing', async ({ setMs, heldUpMs: ms }) => {
  const clock = new FakeClock();
  using lag = watchLag(clock);
  const outcome = await observe(
    lag,
    async () => {
      lag.clock.after(setMs, () => {});
      clock.hold(ms);
      await clock.advance(0);
      return up();
    },
    inPassing,
  );
  expect(outcome.facts).toEqual({});
});

test('a check that began when the stall was over, with timers still to come that it made late, knows nothing of it', async () => {
  const clock = new FakeClock();
  using lag = watchLag(clock);
  const later = new Promise<Outcome>((resolve) => {
    lag.clock.after(30, () => {
      const probe = async () => {
        await clock.advance(1);
        return up();
      };
      resolve(observe(lag, probe, inPassing));
    });
  });
  lag.clock.after(40, () => {});
  clock.hold(heldUpMs);
  await clock.advance(0);
  expect(await later).toMatchObject({ facts: {} });
  expect(lag.worst()).toBe(0.09);
});

test('of two stalls the longer one counts', async () => {
  const clock = new FakeClock();
  using lag = watchLag(clock);
  const outcome = await observe(
    lag,
    async () => {
      for (const ms of [60, 90, 70]) {
        lag.clock.after(10, () => {});
        clock.hold(ms);
        await clock.advance(0);
      }
      return up();
    },
    inPassing,
  );
  expect(outcome.facts.node_lag).toBe(0.08);
});

test('all stalls are counted, each moment once however many timers waited for it', async () => {
  const clock = new FakeClock();
  using lag = watchLag(clock);
  using _ = lag.observe(closely);
  lag.clock.after(10, () => {});
  lag.clock.after(15, () => {});
  clock.hold(110);
  await clock.advance(0);
  expect(lag.clock.heldUpMs?.()).toBe(100);
  await clock.advance(1_000);
  clock.hold(60);
  await clock.advance(20);
  expect(lag.clock.heldUpMs?.()).toBe(140);
});
