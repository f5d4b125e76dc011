import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Register } from '#metrics/register.ts';
import { createScrapes, type ScrapeRequest } from '#metrics/scrape.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { testMetrics, textOf } from '../../support/metrics.ts';

const protobuf = 'application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited';
const formats = [undefined, 'application/openmetrics-text', protobuf];

function registers() {
  const register = new Register();
  const scrape = createScrapes(register, new FakeClock());
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
  return { register, written, samples };
}

test.each(formats)(
  'a series that is asked for by its labels is written as one that its caller keeps, as %s',
  async (accept) => {
    const Seconds = fc.array(fc.double({ min: 0, max: 120, noNaN: true }), { minLength: 1 });
    await fc.assert(
      fc.asyncProperty(Seconds, fc.string({ unit: 'grapheme' }), async (seen, route) => {
        const [asked, kept] = [registers(), registers()];
        const labels = { route, code: '200' };
        const byLabels = asked.register.histogram('h_seconds', 'Help.', [0.01, 1, 30]);
        const distribution = kept.register.histogram('h_seconds', 'Help.', [0.01, 1, 30]).add(labels);
        asked.register.counter('c_total', 'Help.').of(labels).add(7);
        kept.register.counter('c_total', 'Help.').add(labels).add(7);
        asked.register.gauge('g', 'Help.').of(labels).value = 0.5;
        kept.register.gauge('g', 'Help.').add(labels).value = 0.5;
        for (const seconds of seen) {
          byLabels.of(labels).observe(seconds);
          distribution.observe(seconds);
        }
        for (const scraper of [null, 'one', 'one'])
          expect(await asked.written({ accept, scraper })).toEqual(await kept.written({ accept, scraper }));
      }),
      { numRuns: 30 },
    );
  },
);

test('a counter that is shown anew at each scrape has not begun anew: it is shown at 0 once', async () => {
  const { register, samples } = registers();
  const lost = register.counter('lost_total', 'Help.');
  const scrape = async (count: number) => {
    lost.clear();
    lost.of({ node: 'de1' }).add(count);
    return samples({ scraper: 'one' });
  };
  expect([await scrape(3), await scrape(4)]).toEqual([['lost_total{node="de1"} 0'], ['lost_total{node="de1"} 4']]);
  lost.clear();
  expect(await samples({ scraper: 'one' })).toEqual([]);
});

test('a gauge of the program shows nothing until it has a value, nor when it has none any more', async () => {
  const { register, samples } = registers();
  const bytes = register.gauge('bytes', 'Help.');
  expect(await samples()).toEqual([]);
  bytes.of().value = 0;
  expect(await samples()).toEqual(['bytes 0']);
  bytes.of().value = null;
  expect(await samples()).toEqual([]);
});

test('what of the program begins to count is shown to a Prometheus at 0 once, and what began with the process is not', async () => {
  const { register, samples } = registers();
  const failures = register.counter('failures_total', 'Help.');
  register.counter('cpu_seconds_total', 'Help.', 'start').of().add(3);
  failures.of({ source: 'store' }).add();
  expect(await samples({ scraper: 'one' })).toEqual(['failures_total{source="store"} 0', 'cpu_seconds_total 3']);
  failures.of({ source: 'nodes' }).add(2);
  const seen = ['failures_total{source="store"} 1', 'failures_total{source="nodes"} 0', 'cpu_seconds_total 3'];
  expect(await samples({ scraper: 'one' })).toEqual(seen);
  expect((await samples({ scraper: 'one' }))[1]).toBe('failures_total{source="nodes"} 2');
});

test('what targets and what the program itself tell is one exposition in which no metric comes twice', async () => {
  const metrics = testMetrics({}, undefined, { shown: { buckets: null, blackbox: true } });
  for (const accept of formats.slice(0, 2)) {
    const names = [...(await textOf(metrics, { accept })).matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
    expect(names).toContain('watchpost_up');
    expect(names).toContain('watchpost_store_write_seconds');
    expect(new Set(names).size).toBe(names.length);
  }
});
