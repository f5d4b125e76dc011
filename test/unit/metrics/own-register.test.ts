import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { OwnRegister, setOrRemove } from '#metrics/own-register.ts';
import { Register } from '#metrics/register.ts';
import { createScrapes, type ScrapeRequest } from '#metrics/scrape.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { testMetrics, textOf } from '../../support/metrics.ts';

const protobuf = 'application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited';
const formats = [undefined, 'application/openmetrics-text', protobuf];

function registers() {
  const register = new Register();
  const own = new OwnRegister(() => register.bear());
  const scrape = createScrapes({ register, own, clock: new FakeClock(), refresh: () => {}, isLong: () => false });
  async function written(asked: Partial<ScrapeRequest> = {}): Promise<Buffer> {
    const parts: Buffer[] = [];
    for await (const part of scrape({ scraper: null, ...asked }).body) parts.push(Buffer.from(part));
    return Buffer.concat(parts);
  }
  const samples = async (asked: Partial<ScrapeRequest> = {}) =>
    (await written(asked))
      .toString()
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
  return { register, own, written, samples };
}

test.each(formats)('what prom-client keeps is written as what we keep ourselves, as %s', async (accept) => {
  const Seconds = fc.array(fc.double({ min: 0, max: 120, noNaN: true }), { minLength: 1 });
  await fc.assert(
    fc.asyncProperty(Seconds, fc.string({ unit: 'grapheme' }), async (seen, route) => {
      const [theirs, ours] = [registers(), registers()];
      const labels = { route, code: '200' };
      const kept = theirs.own.histogram('h_seconds', 'Help.', [0.01, 1, 30], ['route', 'code']);
      const distribution = ours.register.histogram('h_seconds', 'Help.', [0.01, 1, 30]).add(labels);
      const counter = ours.register.counter('c_total', 'Help.').add(labels);
      const gauge = ours.register.gauge('g', 'Help.').add(labels);
      theirs.own.counter('c_total', 'Help.', ['route', 'code']).inc(labels, 7);
      theirs.own.gauge('g', 'Help.', ['route', 'code']).set(labels, 0.5);
      counter.add(7);
      gauge.value = 0.5;
      for (const seconds of seen) {
        kept.observe(labels, seconds);
        distribution.observe(seconds);
      }
      for (const scraper of [null, 'one', 'one'])
        expect(await theirs.written({ accept, scraper })).toEqual(await ours.written({ accept, scraper }));
    }),
    { numRuns: 30 },
  );
});

test('a gauge of the program shows nothing until it has a value, nor when it has none any more', async () => {
  const { own, samples } = registers();
  const bytes = own.gauge('bytes', 'Help.');
  expect(await samples()).toEqual([]);
  setOrRemove(bytes, 0);
  expect(await samples()).toEqual(['bytes 0']);
  setOrRemove(bytes, null);
  expect(await samples()).toEqual([]);
});

test('what of the program begins to count is shown to a Prometheus at 0 once, and what began with the process is not', async () => {
  const { own, samples } = registers();
  const failures = own.counter('failures_total', 'Help.', ['source']);
  own.counter('cpu_seconds_total', 'Help.', [], 'start').inc(3);
  failures.inc({ source: 'store' });
  expect(await samples({ scraper: 'one' })).toEqual(['failures_total{source="store"} 0', 'cpu_seconds_total 3']);
  failures.inc({ source: 'nodes' }, 2);
  const seen = ['failures_total{source="store"} 1', 'failures_total{source="nodes"} 0', 'cpu_seconds_total 3'];
  expect(await samples({ scraper: 'one' })).toEqual(seen);
  expect((await samples({ scraper: 'one' }))[1]).toBe('failures_total{source="nodes"} 2');
});

test('what targets and what the program itself tell is one exposition in which no metric comes twice', async () => {
  const metrics = testMetrics({}, undefined, { shown: { buckets: null, blackbox: true, pairLimit: 20_000 } });
  for (const accept of formats.slice(0, 2)) {
    const names = [...(await textOf(metrics, { accept })).matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
    expect(names).toContain('watchpost_up');
    expect(names).toContain('watchpost_store_write_seconds');
    expect(new Set(names).size).toBe(names.length);
  }
});
