import { expect, test } from 'vitest';
import { type OtlpBody, type OtlpOptions, startOtlp } from '#export/otlp.ts';
import { systemClock } from '#kernel/clock.ts';
import { Secret } from '#kernel/secret.ts';
import { otlpRequests } from '#metrics/otlp-format.ts';
import { Register } from '#metrics/register.ts';
import { createExportLog } from '../../support/export-log.ts';
import { startSink } from '../../support/http-sink.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { type OtlpReceiver, startOtlpReceiver } from '../../support/otlp-receiver.ts';
import { eventually } from '../../support/program.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { closedPort } from '../../support/tcp-servers.ts';

const source = { resource: { 'service.name': 'watchpost' }, version: '1.2.3', startedAt: 1_000, now: 2_000.5 };
const own = { families: async () => [] };

async function requestsOf(register: Register) {
  const all: OtlpBody[] = [];
  for await (const one of otlpRequests(register, own, source)) all.push(one);
  return all;
}

function push({ url }: Pick<OtlpReceiver, 'url'>, more: Partial<OtlpOptions> = {}) {
  const register = new Register();
  register.gauge('watchpost_a_ratio', 'A gauge.').add({ target: 'shop' }).value = 0.5;
  const events = createExportLog();
  const { log, lines } = memoryLog();
  const pushing = startOtlp({
    url: new Secret(url),
    headers: { 'X-Token': new Secret('abc') },
    everyMs: 100,
    timeoutMs: 1_000,
    compression: 'gzip',
    collect: () => otlpRequests(register, own, source),
    clock: systemClock,
    random: seededRandom(1),
    log,
    events,
    ...more,
  });
  return { pushing, events, said: () => lines.map(({ msg, reason }) => [msg, reason]), register };
}

const metricsIn = (requests: OtlpReceiver['requests']) =>
  requests.flatMap(({ resourceMetrics }) =>
    resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics)),
  );

test('counters, gauges and histograms have the shapes of the specification', async () => {
  const register = new Register();
  const gauge = register.gauge('watchpost_x_bytes', 'Bytes.');
  gauge.add({ node: 'de1' }).value = Number.POSITIVE_INFINITY;
  gauge.add({ node: 'de2' });
  register.counter('watchpost_y_total', 'Count.').add({}).add(3);
  const histogram = register.histogram('watchpost_z_seconds', 'Times.', [0.1, 1]).add({ target: 'a"b\n' });
  for (const seconds of [0.05, 0.1, 0.5, 7]) histogram.observe(seconds);
  const [request, ...more] = await requestsOf(register);
  expect(more).toEqual([]);
  const times = { startTimeUnixNano: '1000000000', timeUnixNano: '2000000000' };
  const attribute = (key: string, text: string) => ({ key, value: { stringValue: text } });
  expect(request?.points).toBe(3);
  expect(JSON.parse(request?.body ?? '')).toEqual({
    resourceMetrics: [
      {
        resource: { attributes: [attribute('service.name', 'watchpost')] },
        scopeMetrics: [
          {
            scope: { name: 'watchpost', version: '1.2.3' },
            metrics: [
              {
                name: 'watchpost_x_bytes',
                description: 'Bytes.',
                unit: 'By',
                gauge: { dataPoints: [{ attributes: [attribute('node', 'de1')], ...times, asDouble: 'Infinity' }] },
              },
              {
                name: 'watchpost_y_total',
                description: 'Count.',
                sum: {
                  dataPoints: [{ attributes: [], ...times, asDouble: 3 }],
                  aggregationTemporality: 2,
                  isMonotonic: true,
                },
              },
              {
                name: 'watchpost_z_seconds',
                description: 'Times.',
                unit: 's',
                histogram: {
                  dataPoints: [
                    {
                      attributes: [attribute('target', 'a"b\n')],
                      ...times,
                      count: '4',
                      sum: 7.65,
                      bucketCounts: ['2', '1', '1'],
                      explicitBounds: [0.1, 1],
                    },
                  ],
                  aggregationTemporality: 2,
                },
              },
            ],
          },
        ],
      },
    ],
  });
});

test('many series come in several requests, each point once', async () => {
  const register = new Register();
  const family = register.counter('watchpost_many_total', 'Many.');
  for (let index = 0; index < 9_000; index += 1) family.add({ target: `t${index}` });
  register.gauge('watchpost_last', 'The last.').add({}).value = 1;
  const requests = await requestsOf(register);
  expect(requests.map(({ points }) => points)).toEqual([4_000, 4_000, 1_001]);
  expect(new Set(requests.flatMap(({ body }) => body.match(/"t\d+"/g) ?? [])).size).toBe(9_000);
});

test('metrics are pushed again and again with headers, compressed, and once more at the end', async () => {
  await using receiver = await startOtlpReceiver();
  const { pushing, events } = push(receiver, { everyMs: 500 });
  // Between two pushes: one that is under way at the stop is abandoned, though it may have arrived.
  await eventually(10_000, () => expect(events.counts.sent).toBeGreaterThan(2));
  await pushing.stop();
  expect(receiver.problems).toEqual([]);
  expect(receiver.headers[0]).toMatchObject({ 'x-token': 'abc', 'content-encoding': 'gzip' });
  expect(metricsIn(receiver.requests).map(({ name }) => name)).toContain('watchpost_a_ratio');
  expect(events.counts).toEqual({ sent: receiver.requests.length, dropped: 0, failed: 0 });
  await using plain = await startOtlpReceiver();
  const other = push({ url: `${plain.url}/v1/metrics` }, { compression: 'none', everyMs: 60_000 });
  await other.pushing.stop();
  expect(plain.problems).toEqual([]);
  expect(plain.headers[0]).not.toHaveProperty('content-encoding');
  expect(plain.requests).toHaveLength(1);
});

test('429, 502, 503 and 504 are retried, and after the time that the receiver asks for', async () => {
  await using receiver = await startOtlpReceiver();
  receiver.answers.push({ status: 503, headers: { 'retry-after': '1' } }, { status: 502 });
  const { pushing, events, said } = push(receiver, { everyMs: 10_000, random: { ...seededRandom(1), next: () => 0 } });
  await eventually(15_000, () => expect(events.counts.sent).toBe(1));
  await pushing.stop();
  expect(events.counts).toMatchObject({ dropped: 0, failed: 2 });
  expect(said()).toEqual([
    ['cannot push metrics over OTLP', 'it answered 503 Service Unavailable'],
    ['cannot push metrics over OTLP', 'it answered 502 Bad Gateway'],
    ['metrics are pushed over OTLP again', undefined],
  ]);
});

test('nothing else is retried: the next push has newer values, and the same reason is logged once', async () => {
  await using receiver = await startOtlpReceiver();
  receiver.answers.push({ status: 400 }, { status: 400 }, { status: 413 });
  const { pushing, events, said } = push(receiver);
  await eventually(10_000, () => expect(events.counts.sent).toBeGreaterThan(0));
  await pushing.stop();
  expect(events.counts).toMatchObject({ dropped: 3, failed: 3 });
  expect(said()).toEqual([
    ['cannot push metrics over OTLP', 'it answered 400 Bad Request'],
    ['cannot push metrics over OTLP', 'it answered 413 Payload Too Large'],
    ['metrics are pushed over OTLP again', undefined],
  ]);
});

test('points that a receiver rejects are counted, and its words are in the log', async () => {
  await using receiver = await startOtlpReceiver();
  const partialSuccess = { rejectedDataPoints: '1', errorMessage: 'too many series' };
  receiver.answers.push({ status: 200, body: JSON.stringify({ partialSuccess }) });
  const { pushing, events, said } = push(receiver);
  await eventually(10_000, () => expect(events.counts.sent).toBeGreaterThan(0));
  await pushing.stop();
  expect(events.counts).toMatchObject({ dropped: 1, failed: 0 });
  expect(said()[0]).toEqual(['cannot push metrics over OTLP', 'it rejected 1 data points: too many series']);
});

test('without a receiver it goes on trying, and can be stopped', async () => {
  const url = `http://127.0.0.1:${await closedPort()}`;
  const { pushing, events, said } = push({ url });
  await eventually(10_000, () => expect(events.counts.failed).toBeGreaterThan(2));
  await pushing.stop();
  expect(said()).toHaveLength(1);
  expect(events.counts.sent).toBe(0);
});

test('a receiver that never answers is given up after the timeout, and delays no stop', async () => {
  await using sink = await startSink(() => 'hang');
  const { pushing, events, said } = push({ url: sink.origin }, { timeoutMs: 200 });
  await eventually(10_000, () => expect(events.counts.failed).toBeGreaterThan(1));
  await pushing.stop();
  expect(said()).toEqual([['cannot push metrics over OTLP', 'no answer within 200 ms']]);
});
