import { expect, test } from 'vitest';
import type { Trouble } from '#monitor/suppress/own-incident-kinds.ts';
import { watchTroubles } from '#monitor/suppress/troubles.ts';
import { ownNats, ownOverload } from '#monitor/judge/incident.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

interface Hub {
  which: string | null;
  reason: string | null;
}

function watch(hub: Hub, { wasTold = false } = {}) {
  const clock = new FakeClock();
  const told: Trouble[] = [];
  const source = { which: () => hub.which, reason: () => hub.reason, afterMs: 60_000, overMs: 60_000 };
  const watching = watchTroubles({
    sources: () => [{ name: ownNats, ...source }],
    clock,
    wasReported: () => wasTold,
    report: (trouble) => void told.push(trouble),
  });
  return { clock, told, [Symbol.dispose]: () => watching[Symbol.dispose]() };
}

test('NATS that comes by a reload and is not there is told once it has not been there for a minute, by its own name', async () => {
  const hub: Hub = { which: null, reason: null };
  using place = watch(hub);
  await place.clock.advance(600_000);
  Object.assign(hub, { which: 'nats://new', reason: 'ECONNREFUSED' });
  await place.clock.advance(55_000);
  expect(place.told).toEqual([]);
  await place.clock.advance(600_000);
  expect(place.told).toMatchObject([{ which: 'nats://new', reason: 'ECONNREFUSED' }]);
});

test('NATS that goes by a reload while it is lost is told to be gone, at once and once, and not to be back', async () => {
  const hub: Hub = { which: 'nats://old', reason: 'lost' };
  using place = watch(hub);
  await place.clock.advance(120_000);
  Object.assign(hub, { which: null, reason: null });
  await place.clock.advance(600_000);
  expect(place.told).toMatchObject([{ reason: 'lost' }, { reason: null, isGone: true }]);
  // And another one that comes is one of its own.
  Object.assign(hub, { which: 'nats://new', reason: 'lost' });
  await place.clock.advance(120_000);
  expect(place.told).toHaveLength(3);
});

test('NATS that was lost and is another one after a reload is back once that has been there for a minute', async () => {
  const hub: Hub = { which: 'nats://old', reason: 'lost' };
  using place = watch(hub);
  await place.clock.advance(120_000);
  Object.assign(hub, { which: 'nats://new', reason: null });
  await place.clock.advance(120_000);
  expect(place.told.slice(1)).toMatchObject([{ which: 'nats://new', reason: null }]);
  expect(place.told[1]?.isGone).toBe(undefined);
});

test('what was told before a start and is configured no more is told to be gone', async () => {
  using place = watch({ which: null, reason: null }, { wasTold: true });
  await place.clock.advance(10_000);
  expect(place.told).toMatchObject([{ reason: null, isGone: true }]);
});

test('a moment without it is told to nobody', async () => {
  const hub: Hub = { which: 'nats://n', reason: null };
  using place = watch(hub);
  for (let moments = 0; moments < 5; moments += 1) {
    hub.reason = 'lost';
    await place.clock.advance(50_000);
    hub.reason = null;
    await place.clock.advance(30_000);
  }
  expect(place.told).toEqual([]);
});

test('what is told is dated by when it changed, not by when that was believed', async () => {
  const hub: Hub = { which: 'nats://n', reason: null };
  using place = watch(hub);
  await place.clock.advance(600_500);
  const lostAt = place.clock.now();
  hub.reason = 'lost';
  await place.clock.advance(600_000);
  const backAt = place.clock.now();
  hub.reason = null;
  await place.clock.advance(600_000);
  const [lost, back] = place.told;
  expect([lost?.since, back?.since]).toEqual([lostAt + 500, backAt + 500]);
});

test('a reason that lingers after its trouble is taken off its end', async () => {
  const clock = new FakeClock();
  const told: Trouble[] = [];
  let reason: string | null = 'rounds were left out within the last minute';
  const times = { afterMs: 60_000, overMs: 300_000, lingersMs: 60_000 };
  using _ = watchTroubles({
    sources: () => [{ name: ownOverload, which: () => 'what nodes see', reason: () => reason, ...times }],
    clock,
    wasReported: () => false,
    report: (trouble) => void told.push(trouble),
  });
  await clock.advance(120_000);
  const overAt = clock.now();
  await clock.advance(60_000);
  reason = null;
  await clock.advance(600_000);
  expect(told[1]?.since).toBe(overAt + 1_000);
});

test('a source that is watched no more ends what was reported of it, as gone', async () => {
  const clock = new FakeClock();
  const told: Trouble[] = [];
  const hub = { name: 'hub b', which: () => 'b', reason: () => 'it does not answer', afterMs: 0, overMs: 0 } as const;
  let sources: readonly (typeof hub)[] = [hub];
  using _ = watchTroubles({
    sources: () => sources,
    clock,
    wasReported: () => false,
    report: (trouble) => void told.push(trouble),
  });
  await clock.advance(5_000);
  sources = [];
  await clock.advance(5_000);
  expect(told).toMatchObject([
    { which: 'b', reason: 'it does not answer' },
    { name: 'hub b', reason: null, isGone: true },
  ]);
});
