import * as fc from 'fast-check';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { counterFamily, exposition, gaugeFamily, histogramFamily } from '#metrics/exposition.ts';

const lines = (text: string) => text.split('\n').filter((line) => line !== '');
const Value = fc.double({ noNaN: true, noDefaultInfinity: true });
const LabelValue = fc.string({ unit: 'grapheme', maxLength: 20 });

test('writes histograms exactly as prom-client does', async () => {
  const Bounds = fc.uniqueArray(fc.double({ min: 0, max: 100, noNaN: true }), { minLength: 1, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(Bounds, fc.array(fc.double({ min: 0, max: 120, noNaN: true })), async (unsorted, seen) => {
      const buckets = [...unsorted].sort((a, b) => a - b);
      const registers = [new Registry()];
      const theirs = new Histogram({ name: 'd', help: 'How long.', labelNames: ['node'], buckets, registers });
      const ours = histogramFamily('d', 'How long.', buckets);
      const distribution = ours.add({ node: 'de1' });
      theirs.zero({ node: 'de1' });
      for (const value of seen) {
        theirs.observe({ node: 'de1' }, value);
        distribution.observe(value);
      }
      expect(lines(await exposition([ours]))).toEqual(lines(await registers[0]!.metrics()));
    }),
    { numRuns: 50 },
  );
});

test('writes gauges and counters with any label value exactly as prom-client does', async () => {
  await fc.assert(
    fc.asyncProperty(LabelValue, LabelValue, Value, async (target, label_team, value) => {
      const registry = new Registry();
      const options = { help: 'Help.', labelNames: ['target', 'label_team'], registers: [registry] };
      new Gauge({ ...options, name: 'g' }).set({ target, label_team }, value);
      new Counter({ ...options, name: 'c_total' }).inc({ target, label_team }, Math.abs(value));
      const gauge = gaugeFamily('g', 'Help.');
      const counter = counterFamily('c_total', 'Help.');
      gauge.add({ target, label_team }).value = value;
      counter.add({ target, label_team }).value = Math.abs(value);
      expect(lines(await exposition([gauge, counter]))).toEqual(lines(await registry.metrics()));
    }),
    { numRuns: 100 },
  );
});

test('escapes quotes, backslashes and line feeds in label values', async () => {
  const family = gaugeFamily('g', 'Help.');
  family.add({ team: 'a"b\\c\nd' }).value = 1;
  expect(await exposition([family])).toContain('g{team="a\\"b\\\\c\\nd"} 1\n');
});

test('writes infinities the way Prometheus reads them', async () => {
  const family = gaugeFamily('g', 'Help.');
  family.add({ sign: 'plus' }).value = Infinity;
  family.add({ sign: 'minus' }).value = -Infinity;
  expect(lines(await exposition([family])).slice(2)).toEqual(['g{sign="plus"} +Inf', 'g{sign="minus"} -Inf']);
});

test('a gauge shows nothing while it has no value, a counter starts at 0', async () => {
  const gauge = gaugeFamily('g', 'Help.');
  const counter = counterFamily('c_total', 'Help.');
  gauge.add({ node: 'de1' });
  counter.add({ node: 'de1' });
  expect(lines(await exposition([gauge, counter])).filter((line) => !line.startsWith('#'))).toEqual([
    'c_total{node="de1"} 0',
  ]);
});

test('lets other work have its turn while it writes many series', async () => {
  const family = gaugeFamily('g', 'Help.');
  for (let index = 0; index < 1_000; index += 1) family.add({ target: `t${index}` }).value = index;
  let turns = 0;
  let writing = true;
  const work = () => {
    turns += 1;
    if (writing) setImmediate(work);
  };
  setImmediate(work);
  await exposition([family]);
  writing = false;
  expect(turns).toBeGreaterThanOrEqual(4);
});

test('series that go while it writes are left out, and none is written twice', async () => {
  const family = gaugeFamily('g', 'Help.');
  const samples = Array.from({ length: 1_000 }, (_, index) => family.add({ target: `t${index}` }));
  for (const sample of samples) sample.value = 1;
  const text = exposition([family]);
  setImmediate(() => {
    for (const sample of samples) family.remove(sample);
  });
  const written = lines(await text).filter((line) => !line.startsWith('#'));
  expect(written.length).toBeLessThan(1_000);
  expect(new Set(written).size).toBe(written.length);
});
