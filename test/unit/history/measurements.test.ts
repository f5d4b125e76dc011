import { expect, test } from 'vitest';
import type { Outcome } from '#checks/index.ts';
import { packHour, pointsOf, unpackHour, withMeasurement } from '#history/measured-hour.ts';
import { createMeasurementKeeper, type Measurement } from '#history/measurements.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const hour = Date.parse('2026-11-23T10:00:00Z');
const value = (label: string, number: number | null, unit = 'ms') => {
  return { label, value: number, unit, warning: '5', critical: null };
};

test('values of five minutes become the least, the mean and the greatest', () => {
  let measured = withMeasurement(null, { at: hour + 1_000, values: [value('load', 4), value('users', 2, '')] });
  measured = withMeasurement(measured, { at: hour + 61_000, values: [value('load', 8)] });
  measured = withMeasurement(measured, { at: hour + 301_000, values: [value('load', -1), value('users', null, '')] });
  const read = unpackHour(packHour(measured));
  expect(read).toEqual(measured);
  expect(read?.labels.map(({ label, unit, steps }) => [label, unit, pointsOf(steps, hour)])).toEqual([
    [
      'load',
      'ms',
      [
        { at: hour, min: 4, mean: 6, max: 8 },
        { at: hour + 300_000, min: -1, mean: -1, max: -1 },
      ],
    ],
    ['users', '', [{ at: hour, min: 2, mean: 2, max: 2 }]],
  ]);
});

test('a label whose unit has changed begins anew, and values that come late find their place', () => {
  let measured = withMeasurement(null, { at: hour + 900_000, values: [value('load', 4)] });
  measured = withMeasurement(measured, { at: hour, values: [value('load', 3)] });
  expect(measured.labels[0]?.steps.map(([number]) => number)).toEqual([0, 3]);
  measured = withMeasurement(measured, { at: hour + 1_200_000, values: [value('load', 4_000, 'us')] });
  expect(measured.labels).toEqual([expect.objectContaining({ unit: 'us', steps: [[4, 4_000, 4_000, 4_000, 1]] })]);
});

test('labels that change with every check are bounded and counted', () => {
  let measured = withMeasurement(null, { at: hour, values: [value('first', 1)] });
  for (let number = 0; number < 200; number += 1)
    measured = withMeasurement(measured, { at: hour, values: [value('first', 1), value(`session-${number}`, 1)] });
  expect(measured.labels).toHaveLength(50);
  expect(measured.omitted).toBe(151);
  expect(measured.labels[0]?.steps).toEqual([[0, 1, 1, 201, 201]]);
});

test('values are stored together every few seconds, and at the end', async () => {
  const clock = new FakeClock();
  const stored: (readonly Measurement[])[] = [];
  const failures: unknown[] = [];
  const store = {
    addMeasurements: (all: readonly Measurement[]) => {
      stored.push(all);
      if (stored.length === 2) throw new Error('disk full');
    },
  };
  const keeper = createMeasurementKeeper(store, clock, (error) => failures.push(error));
  const outcome = (values: readonly ReturnType<typeof value>[]): Outcome => ({
    status: 'up',
    seconds: 0.1,
    address: null,
    phases: {},
    facts: {},
    detail: {
      state: 'ok',
      text: '',
      more: [],
      omitted: 0,
      values: values.map((one) => ({ ...one, min: null, max: null })),
    },
  });
  const votes = (...values: readonly ReturnType<typeof value>[]) => [
    { node: { name: 'zz1' }, outcome: outcome(values) },
  ];
  keeper.roundDone('disk', 'plugin', hour, votes(value('load', 1)));
  keeper.roundDone('none', 'plugin', hour, votes());
  keeper.roundDone('web', 'http', hour, votes(value('load', 1)));
  expect(stored).toEqual([]);
  await clock.advance(5_000);
  expect(stored).toEqual([[{ target: 'disk', node: 'zz1', at: hour, values: [value('load', 1)] }]]);
  keeper.roundDone('disk', 'plugin', hour, votes(value('load', 2)));
  await clock.advance(5_000);
  expect(failures).toEqual([new Error('disk full')]);
  keeper.roundDone('disk', 'plugin', hour, votes(value('load', 3)));
  keeper[Symbol.dispose]();
  expect(stored).toHaveLength(3);
});
