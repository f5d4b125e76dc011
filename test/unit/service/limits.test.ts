import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createLimits, type RateLimits } from '#service/limits.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const plenty = { count: 1_000_000, perMs: 1_000 };
const open: RateLimits = {
  per_client: plenty,
  per_target: plenty,
  per_node: plenty,
  overall: plenty,
  domain_per_client: plenty,
  domain_per_node: plenty,
};
const minute = (count: number) => ({ count, perMs: 60_000 });
const charge = { client: '192.0.2.1', targets: ['example.com'], nodes: ['de1'] };

test('a client has its whole allowance at once, then as much as time gives back', async () => {
  const clock = new FakeClock();
  const limits = createLimits({ ...open, per_client: minute(3) }, clock);
  expect(
    [limits.take(charge), limits.take(charge), limits.take(charge)].map(({ ok, remaining }) => [ok, remaining]),
  ).toEqual([
    [true, 2],
    [true, 1],
    [true, 0],
  ]);
  expect(limits.take(charge)).toEqual({
    ok: false,
    resource: 'checks',
    limit: 3,
    remaining: 0,
    resetSeconds: 60,
    retryAfterSeconds: 20,
    hit: 'your allowance',
  });
  await clock.advance(19_999);
  expect(limits.take(charge).ok).toBe(false);
  await clock.advance(1);
  expect(limits.take(charge)).toMatchObject({ ok: true, remaining: 0 });
});

test('each node costs one, and what costs more than everything passes when everything is there', () => {
  const limits = createLimits({ ...open, per_client: minute(3) }, new FakeClock());
  expect(limits.take({ ...charge, nodes: ['de1', 'us1'] })).toMatchObject({ ok: true, remaining: 1 });
  expect(limits.take({ ...charge, nodes: ['de1', 'us1'] }).ok).toBe(false);
  const five = ['a', 'b', 'c', 'd', 'e'];
  expect(limits.take({ ...charge, client: '192.0.2.2', nodes: five })).toMatchObject({ ok: true, remaining: 0 });
  expect(limits.take({ ...charge, client: '192.0.2.2' })).toMatchObject({ ok: false, retryAfterSeconds: 60 });
});

test.each<{ name: keyof RateLimits; other: Partial<typeof charge>; hit: string }>([
  { name: 'per_target', other: { client: '192.0.2.9', nodes: ['us1'] }, hit: 'the allowance of this target' },
  { name: 'per_node', other: { client: '192.0.2.9', targets: ['example.net'] }, hit: 'the allowance of node de1' },
  {
    name: 'overall',
    other: { client: '192.0.2.9', targets: ['example.net'], nodes: ['us1'] },
    hit: 'the allowance of the whole service',
  },
])('$name holds for all clients together', ({ name, other, hit }) => {
  const limits = createLimits({ ...open, [name]: minute(1) }, new FakeClock());
  expect(limits.take(charge).ok).toBe(true);
  expect(limits.take({ ...charge, ...other })).toMatchObject({ ok: false, hit, retryAfterSeconds: 60 });
});

test('each target that bears a check has its own allowance, and the first that is used up refuses it', () => {
  const limits = createLimits({ ...open, per_target: minute(2) }, new FakeClock());
  const take = (...targets: readonly string[]) => limits.take({ ...charge, targets }).ok;
  expect([take('a.example', '192.0.2.1'), take('b.example', '192.0.2.1')]).toEqual([true, true]);
  expect([take('c.example', '192.0.2.1'), take('c.example'), take('a.example')]).toEqual([false, true, true]);
});

test('what a target bore unforeseen is taken from it, be it more than it has', async () => {
  const clock = new FakeClock();
  const limits = createLimits({ ...open, per_target: minute(2) }, clock);
  for (let index = 0; index < 4; index += 1) limits.note('192.0.2.1', 1);
  const again = { ...charge, targets: ['192.0.2.1'] };
  expect(limits.take(again)).toMatchObject({ ok: false, hit: 'the allowance of this target', retryAfterSeconds: 90 });
  await clock.advance(90_000);
  expect(limits.take(again).ok).toBe(true);
});

test('a scarce check costs the limits of its own besides, which other checks do not touch', async () => {
  const clock = new FakeClock();
  const limits = createLimits({ ...open, domain_per_client: minute(2), domain_per_node: minute(3) }, clock);
  const scarce = { ...charge, isScarce: true };
  expect(limits.take(scarce)).toMatchObject({ ok: true, resource: 'domain', limit: 2, remaining: 1, resetSeconds: 30 });
  expect(limits.take(scarce).ok).toBe(true);
  expect(limits.take(scarce)).toMatchObject({ ok: false, hit: 'your allowance for checks of this type', remaining: 0 });
  expect(limits.take(charge)).toMatchObject({ ok: true, resource: 'checks', limit: 1_000_000 });
  const other = { ...scarce, client: '192.0.2.9' };
  expect(limits.take(other).ok).toBe(true);
  expect([limits.usedOf('de1', true), limits.usedOf('de1') < 1, limits.usedOf('us1', true)]).toEqual([1, true, 0]);
  expect(limits.take(other)).toMatchObject({ ok: false, hit: 'the allowance of node de1 for checks of this type' });
  expect(limits.leftOf('192.0.2.9', 'domain')).toEqual({ limit: 2, remaining: 1, resetSeconds: 30 });
});

test('a scarce check that the limit of all checks refuses tells of that one', () => {
  const limits = createLimits({ ...open, per_client: minute(1), domain_per_client: minute(2) }, new FakeClock());
  expect(limits.take(charge).ok).toBe(true);
  expect(limits.take({ ...charge, isScarce: true })).toMatchObject({
    ok: false,
    hit: 'your allowance',
    resource: 'checks',
    remaining: 0,
    retryAfterSeconds: 60,
  });
});

test('asking whether a charge would pass takes nothing', () => {
  const limits = createLimits({ ...open, per_client: minute(1) }, new FakeClock());
  expect([limits.peek(charge).ok, limits.peek(charge).ok, limits.take(charge).ok]).toEqual([true, true, true]);
  expect(limits.peek(charge)).toMatchObject({ ok: false, hit: 'your allowance', remaining: 0 });
});

test('a charge that one limit refuses takes nothing from the others', () => {
  const limits = createLimits({ ...open, per_client: minute(2), per_target: minute(1) }, new FakeClock());
  limits.take(charge);
  expect(limits.take(charge)).toMatchObject({ ok: false, remaining: 1 });
  expect(limits.take({ ...charge, targets: ['example.net'] })).toMatchObject({ ok: true, remaining: 0 });
});

// One more than are kept: who came the longest ago is forgotten then, down to half of them.
const crowd = 50_001;

test('beyond so many clients those who came last the longest ago are forgotten, and nobody else is', () => {
  const limits = createLimits({ ...open, per_client: minute(2) }, new FakeClock());
  const take = (client: string) => limits.take({ ...charge, client }).ok;
  const [early, faithful] = ['192.0.2.1', '192.0.2.2'];
  expect([take(early), take(early), take(early)]).toEqual([true, true, false]);
  expect(take(faithful)).toBe(true);
  for (let index = 0; index < 30_000; index += 1) take(`stranger ${index}`);
  expect(take(faithful)).toBe(true);
  for (let index = 30_000; index < crowd - 3; index += 1) take(`stranger ${index}`);
  expect([take(early), take(faithful)]).toEqual([false, false]);
  take('one more');
  expect([take(early), take(faithful), take('one more'), take('one more')]).toEqual([true, false, true, false]);
});

test('whose allowance is whole again is forgotten before anybody else', async () => {
  const clock = new FakeClock();
  const limits = createLimits({ ...open, per_client: minute(2) }, clock);
  const take = (client: string, nodes = 1) =>
    limits.take({ ...charge, client, nodes: Array.from({ length: nodes }, (_, index) => `n${index}`) }).ok;
  expect(take('greedy', 6)).toBe(true);
  for (let index = 0; index < 30_000; index += 1) take(`modest ${index}`);
  await clock.advance(31_000);
  for (let index = 30_000; index <= crowd; index += 1) take(`stranger ${index}`);
  expect(take('greedy')).toBe(false);
});

test('no order of charges gives more than the allowance and what time gave back', async () => {
  const step = fc.record({ waitMs: fc.integer({ min: 0, max: 5_000 }), cost: fc.integer({ min: 1, max: 4 }) });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const clock = new FakeClock();
      const limits = createLimits({ ...open, per_client: { count: 5, perMs: 10_000 } }, clock);
      let taken = 0;
      for (const { waitMs, cost } of steps) {
        await clock.advance(waitMs);
        const nodes = Array.from({ length: cost }, (_, index) => `n${index}`);
        if (limits.take({ ...charge, nodes }).ok) taken += cost;
      }
      expect(taken).toBeLessThanOrEqual(5 + clock.elapsed() / 2_000 + 1e-6);
    }),
    { numRuns: 30 },
  );
});
