import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Measurement } from '#history/measurements.ts';
import { dayMs, hourMs } from '#kernel/units.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { openAt, round, start, tempFolder } from '../support/store.ts';

// Hours that lie ahead of the clock are dropped at the start.
const early = start - dayMs;
const measurement = (at: number, value: number, more: Partial<Measurement> = {}): Measurement => {
  const load = { label: 'load', value, unit: 'ms', warning: '5', critical: '~:10' };
  return { target: 'disk', node: 'de1', at, values: [load], ...more };
};

test('measured values outlive a restart and go on in their hour', async () => {
  using folder = tempFolder();
  const path = join(folder.path, 'watchpost.db');
  const clock = new FakeClock();
  await using first = openAt(path, clock);
  first.addMeasurements([measurement(early, 1), measurement(early + 60_000, 3), measurement(early + hourMs, 7)]);
  await first.close();
  await using store = openAt(path, clock);
  store.addMeasurements([measurement(early + 120_000, 5), measurement(early, 9, { node: 'us1' })]);
  store.addMeasurements([measurement(early, 9, { target: 'other' })]);
  const said = { label: 'load', unit: 'ms', warning: '5', critical: '~:10' };
  expect(store.measured('disk', { from: early, to: early + dayMs })).toEqual({
    omitted: 0,
    series: [
      {
        ...said,
        node: 'de1',
        points: [
          { at: early, min: 1, mean: 3, max: 5 },
          { at: early + hourMs, min: 7, mean: 7, max: 7 },
        ],
      },
      { ...said, node: 'us1', points: [{ at: early, min: 9, mean: 9, max: 9 }] },
    ],
  });
  const lately = store.measured('disk', { from: early + hourMs, to: early + dayMs });
  expect(lately.series.map(({ points }) => points.length)).toEqual([1]);
  expect(store.measured('nothing', { from: early, to: early + dayMs })).toEqual({ omitted: 0, series: [] });
});

async function recorded(clock: FakeClock, done: Promise<unknown>): Promise<void> {
  await clock.advance(2_000);
  await done;
}

test('measured values are kept as long as single results', async () => {
  using folder = tempFolder();
  const clock = new FakeClock();
  const retention = { rawMs: 2 * dayMs, hoursMs: 30 * dayMs, daysMs: null, verdictsMs: null, incidentsMs: null };
  await using store = openAt(join(folder.path, 'watchpost.db'), clock, { retention });
  const now = clock.now();
  await recorded(clock, store.record(round('disk', now - hourMs)));
  for (let hour = 0; hour < 240; hour += 1) store.addMeasurements([measurement(now - hour * hourMs, hour)]);
  await clock.advance(hourMs);
  for (let step = 0; step < 100 && store.upkeep(); step += 1) await clock.advance(1_000);
  const { series } = store.measured('disk', { from: now - 365 * dayMs, to: now + hourMs });
  expect(series.map(({ points }) => points.length)).toEqual([48]);
});
