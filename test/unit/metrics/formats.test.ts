import * as fc from 'fast-check';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { OwnRegister } from '#metrics/own-register.ts';
import { Register } from '#metrics/register.ts';
import { createScrapes, formatFor, type ScrapeRequest } from '#metrics/scrape.ts';
import { openMetrics, plainText } from '#metrics/text-format.ts';
import { protobuf } from '#metrics/protobuf-format.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const Value = fc.double({ noNaN: true, noDefaultInfinity: true });
const LabelValue = fc.string({ unit: 'grapheme', maxLength: 20 });
const lines = (text: string) => text.split('\n').filter((line) => line !== '');

function scrapesOf(register: Register, clock = new FakeClock(), own = new OwnRegister(() => register.bear())) {
  return createScrapes({ register, own, clock, refresh: () => {}, isLong: () => false });
}

async function written(register: Register, asked: Partial<ScrapeRequest> = {}, clock = new FakeClock()) {
  return collect(scrapesOf(register, clock)({ scraper: null, ...asked }).body);
}

async function collect(body: AsyncIterable<string | Uint8Array>): Promise<string> {
  let text = '';
  for await (const part of body) text += Buffer.from(part).toString();
  return text;
}

// prom-client writes bounds as it writes values.
const plainBounds = (text: string) => lines(text).map((line) => line.replace(/le="(\d+)\.0"/, 'le="$1"'));

test('writes histograms exactly as prom-client does', async () => {
  const Bounds = fc.uniqueArray(fc.double({ min: 0, max: 100, noNaN: true }), { minLength: 1, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(Bounds, fc.array(fc.double({ min: 0, max: 120, noNaN: true })), async (unsorted, seen) => {
      const buckets = [...unsorted].sort((a, b) => a - b);
      const registers = [new Registry()];
      const theirs = new Histogram({ name: 'd', help: 'How long.', labelNames: ['node'], buckets, registers });
      const ours = new Register();
      const distribution = ours.histogram('d', 'How long.', buckets).add({ node: 'de1' });
      theirs.zero({ node: 'de1' });
      for (const value of seen) {
        theirs.observe({ node: 'de1' }, value);
        distribution.observe(value);
      }
      expect(plainBounds(await written(ours))).toEqual(plainBounds(await registers[0]!.metrics()));
    }),
    { numRuns: 50 },
  );
});

test('writes gauges and counters with any label value exactly as prom-client does', async () => {
  await fc.assert(
    fc.asyncProperty(LabelValue, LabelValue, Value, async (target, label_team, value) => {
      const theirs = new Registry();
      const options = { help: 'Help.', labelNames: ['target', 'label_team'], registers: [theirs] };
      new Gauge({ ...options, name: 'g' }).set({ target, label_team }, value);
      new Counter({ ...options, name: 'c_total' }).inc({ target, label_team }, Math.abs(value));
      const ours = new Register();
      ours.gauge('g', 'Help.').add({ target, label_team }).value = value;
      ours.counter('c_total', 'Help.').add({ target, label_team }).value = Math.abs(value);
      expect(lines(await written(ours))).toEqual(lines(await theirs.metrics()));
    }),
    { numRuns: 100 },
  );
});

test('escapes quotes, backslashes and line feeds in label values', async () => {
  const register = new Register();
  register.gauge('g', 'Help.').add({ team: 'a"b\\c\nd' }).value = 1;
  expect(await written(register)).toContain('g{team="a\\"b\\\\c\\nd"} 1\n');
});

test('writes infinities and values without labels the way Prometheus reads them', async () => {
  const register = new Register();
  const family = register.gauge('g', 'Help.');
  family.add({ sign: 'plus' }).value = Infinity;
  family.add({ sign: 'minus' }).value = -Infinity;
  family.add({}).value = 3;
  expect(lines(await written(register)).slice(2)).toEqual(['g{sign="plus"} +Inf', 'g{sign="minus"} -Inf', 'g 3']);
});

test('a gauge shows nothing while it has no value, a counter starts at 0', async () => {
  const register = new Register();
  register.gauge('g', 'Help.').add({ node: 'de1' });
  register.counter('c_total', 'Help.').add({ node: 'de1' });
  expect(lines(await written(register)).filter((line) => !line.startsWith('#'))).toEqual(['c_total{node="de1"} 0']);
});

test('OpenMetrics calls a counter without _total, writes whole bounds with a point, and says where it ends', async () => {
  const register = new Register();
  register.counter('c_total', 'Says "so".').add({}).add(2);
  register.histogram('h_seconds', 'Help.', [0.5, 1]).add({ node: 'de1' }).observe(0.7);
  expect(await written(register, { accept: 'application/openmetrics-text' })).toBe(
    [
      '# TYPE c counter',
      '# HELP c Says \\"so\\".',
      'c_total 2',
      '# TYPE h_seconds histogram',
      '# HELP h_seconds Help.',
      'h_seconds_bucket{le="0.5",node="de1"} 0',
      'h_seconds_bucket{le="1.0",node="de1"} 1',
      'h_seconds_bucket{le="+Inf",node="de1"} 1',
      'h_seconds_sum{node="de1"} 0.7',
      'h_seconds_count{node="de1"} 1',
      '# EOF',
      '',
    ].join('\n'),
  );
});

test.each([
  { accept: undefined, format: plainText },
  { accept: '*/*', format: plainText },
  { accept: 'text/html', format: plainText },
  { accept: 'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5', format: openMetrics },
  { accept: 'application/openmetrics-text; version="1.0.0"; charset=utf-8', format: openMetrics },
  { accept: 'application/openmetrics-text;version=0.0.1,text/plain;version=0.0.4;q=0.5', format: plainText },
  { accept: 'text/plain;version=0.0.4;q=0.9,application/openmetrics-text;q=0.2', format: plainText },
  { accept: 'application/openmetrics-text;q=0,*/*', format: plainText },
  {
    accept:
      'application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,text/plain;q=0.5',
    format: protobuf,
  },
  {
    accept: 'application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=text',
    format: plainText,
  },
])('$accept is answered as $format.contentType', ({ accept, format }) => {
  expect(formatFor(accept).contentType).toBe(format.contentType);
});

test('what a Prometheus has not seen yet begins at 0 for it, and only for it', async () => {
  const register = new Register();
  const scrape = scrapesOf(register);
  const seen = async (scraper: string | null) =>
    lines(await collect(scrape({ scraper }).body)).filter((line) => !line.startsWith('#'));
  const failures = register.counter('c_total', 'Help.');
  const times = register.histogram('h', 'Help.', [1]);
  const first = ['h_bucket{le="1.0"} 0', 'h_bucket{le="+Inf"} 0', 'h_sum 0', 'h_count 0'];
  const later = ['h_bucket{le="1.0"} 1', 'h_bucket{le="+Inf"} 1', 'h_sum 0.5', 'h_count 1'];
  failures.add({ reason: 'refused' }).add();
  times.add({}).observe(0.5);
  expect(await seen('one')).toEqual(['c_total{reason="refused"} 0', ...first]);
  expect(await seen('one')).toEqual(['c_total{reason="refused"} 1', ...later]);
  failures.add({ reason: 'timeout' }).add(3);
  expect(await seen('one')).toEqual(['c_total{reason="refused"} 1', 'c_total{reason="timeout"} 0', ...later]);
  expect(await seen('two')).toEqual(['c_total{reason="refused"} 0', 'c_total{reason="timeout"} 0', ...first]);
  expect(await seen(null)).toEqual(['c_total{reason="refused"} 1', 'c_total{reason="timeout"} 3', ...later]);
  expect(await seen('one')).toEqual(['c_total{reason="refused"} 1', 'c_total{reason="timeout"} 3', ...later]);
});

test('to a Prometheus that comes to a program of long standing everything is as it is', async () => {
  const register = new Register();
  const clock = new FakeClock();
  const scrape = scrapesOf(register, clock);
  register.counter('c_total', 'Help.').add({}).add(1_000_000);
  await clock.advance(3_600_000);
  expect(await collect(scrape({ scraper: 'late' }).body)).toContain('c_total 1000000\n');
});

test('a scrape that was cut counts as none', async () => {
  const register = new Register();
  const scrape = scrapesOf(register);
  register.counter('c_total', 'Help.').add({}).add();
  register.gauge('g', 'Help.').add({}).value = 1;
  for await (const _ of scrape({ scraper: 'one' }).body) break;
  expect(await collect(scrape({ scraper: 'one' }).body)).toContain('c_total 0\n');
  expect(await collect(scrape({ scraper: 'one' }).body)).toContain('c_total 1\n');
});

// Each look at it finds ten milliseconds gone: writing takes long.
class SlowClock extends FakeClock {
  #looks = 0;
  /** What other work has taken, in milliseconds. */
  othersMs = 0;

  override elapsed(): number {
    return (this.#looks += 1) * 10 + this.othersMs;
  }
}

/** How often other work has its turn, each time for so long, while 1,000 series are written. */
async function turnsWhileWriting(othersMs: number): Promise<number> {
  const register = new Register();
  const family = register.gauge('g', 'Help.');
  for (let index = 0; index < 1_000; index += 1) family.add({ target: `t${index}` }).value = index;
  const clock = new SlowClock();
  let turns = 0;
  let writing = true;
  const work = () => {
    turns += 1;
    clock.othersMs += othersMs;
    if (writing) setImmediate(work);
  };
  setImmediate(work);
  await written(register, {}, clock);
  writing = false;
  return turns;
}

test.each([0, 100])(
  'lets other work, of %d ms at a time, have its turn while it writes many series',
  async (othersMs) => {
    expect(await turnsWhileWriting(othersMs)).toBeGreaterThanOrEqual(8);
  },
);

test('series that go while it writes are left out, and none is written twice', async () => {
  const register = new Register();
  const family = register.gauge('g', 'Help.');
  const samples = Array.from({ length: 1_000 }, (_, index) => family.add({ target: `t${index}` }));
  for (const sample of samples) sample.value = 1;
  const text = written(register, {}, new SlowClock());
  setImmediate(() => {
    for (const sample of samples) family.remove(sample);
  });
  const all = lines(await text).filter((line) => !line.startsWith('#'));
  expect(all.length).toBeLessThan(1_000);
  expect(new Set(all).size).toBe(all.length);
});

test('a family that is filled anew while it is written is written once, as it was', async () => {
  const register = new Register();
  const family = register.gauge('g', 'Help.');
  const fill = (value: number) => {
    for (let index = 0; index < 500; index += 1) family.add({ target: `t${index}` }).value = value;
  };
  fill(1);
  const text = written(register, {}, new SlowClock());
  setImmediate(() => {
    family.clear();
    fill(2);
  });
  const all = lines(await text).filter((line) => !line.startsWith('#'));
  expect(all).toHaveLength(500);
  expect(all.every((line) => line.endsWith(' 1'))).toBe(true);
});

test.each([plainText, openMetrics])('what a failed text began is not part of the next one ($contentType)', (format) => {
  const family = new Register().gauge('g', 'Help.');
  for (const node of ['de1', 'us1']) family.add({ node }).value = 1;
  const series = [...family];
  const text = () => Buffer.from(format.write(family, series, { isFirst: true, isNew: () => false })).toString();
  const before = text();
  const failing = (one: unknown) => {
    if (one === series[1]) throw new Error('no');
    return false;
  };
  expect(() => format.write(family, series, { isFirst: true, isNew: failing })).toThrow('no');
  expect(text()).toBe(before);
});
