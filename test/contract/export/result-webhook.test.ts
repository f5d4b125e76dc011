import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { startResultWebhook } from '#export/result-webhook.ts';
import { systemClock } from '#kernel/clock.ts';
import { Secret } from '#kernel/secret.ts';
import { createExportLog } from '../../support/export-log.ts';
import { type Sink, startSink } from '../../support/http-sink.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { eventually } from '../../support/program.ts';
import { seededRandom } from '../../support/seeded-random.ts';

function open({ origin }: Pick<Sink, 'origin'>, everyMs = 10) {
  const events = createExportLog();
  const { log, lines } = memoryLog();
  const webhook = startResultWebhook({
    url: new Secret(`${origin}/in?key=very-secret-key`),
    secret: new Secret('s3cret'),
    headers: { Authorization: new Secret('Bearer abc') },
    everyMs,
    clock: systemClock,
    random: seededRandom(1),
    log,
    events,
  });
  return { webhook, events, lines };
}

const bodies = ({ received }: Sink) => received.map(({ body }) => body);

test('lines are posted in signed batches, in order, a thousand at once at the most', async () => {
  await using sink = await startSink();
  const { webhook, events } = open(sink);
  const lines = Array.from({ length: 2_500 }, (_, index) => `{"n":${index}}\n`);
  webhook.add(lines);
  await eventually(10_000, () => expect(events.counts.sent).toBe(2_500));
  expect(bodies(sink).join('')).toBe(lines.join(''));
  await webhook.stop();
  expect(sink.received.map(({ body }) => body.trimEnd().split('\n').length)).toEqual([1_000, 1_000, 500]);
  for (const { headers, body, method, path } of sink.received) {
    expect({ method, path }).toEqual({ method: 'POST', path: '/in?key=very-secret-key' });
    expect(headers).toMatchObject({ 'content-type': 'application/x-ndjson', authorization: 'Bearer abc' });
    const [, seconds, hex] = /^t=(\d+),v1=([\da-f]{64})$/.exec(String(headers['watchpost-signature'])) ?? [];
    expect(hex).toBe(createHmac('sha256', 's3cret').update(`${seconds}.${body}`).digest('hex'));
  }
  expect(events.counts).toEqual({ sent: 2_500, dropped: 0, failed: 0 });
});

test('a batch is repeated under its id until it is accepted; a connection that breaks counts as a failure', async () => {
  const steps = [{ status: 500 }, 'drop', { status: 429, headers: { 'retry-after': '1' } }, { status: 204 }] as const;
  await using sink = await startSink(() => steps[sink.received.length - 1] ?? { status: 200 });
  const { webhook, events, lines } = open(sink);
  webhook.add(['1\n']);
  await eventually(20_000, () => expect(events.counts.sent).toBe(1));
  webhook.add(['2\n']);
  await eventually(10_000, () => expect(events.counts.sent).toBe(2));
  await webhook.stop();
  expect(bodies(sink)).toEqual(['1\n', '1\n', '1\n', '1\n', '2\n']);
  const ids = sink.received.map(({ headers }) => headers['watchpost-id']);
  expect([new Set(ids.slice(0, 4)).size, ids[4] === ids[0]]).toEqual([1, false]);
  expect(events.counts).toEqual({ sent: 2, dropped: 0, failed: 3 });
  expect(lines.map(({ msg }) => msg)).toEqual([
    'cannot send results to the webhook',
    'results are sent to the webhook again',
  ]);
});

test('what is refused for good is given up and counted; what comes after it is sent', async () => {
  await using sink = await startSink(() => ({ status: sink.received.length === 1 ? 422 : 200 }));
  const { webhook, events } = open(sink);
  webhook.add(['1\n', '2\n']);
  await eventually(10_000, () => expect(events.counts.dropped).toBe(2));
  webhook.add(['3\n']);
  await eventually(10_000, () => expect(events.counts.sent).toBe(1));
  await webhook.stop();
  expect(bodies(sink)).toEqual(['1\n2\n', '3\n']);
});

test('while nothing answers, lines wait up to a bound; the address is not in the log', async () => {
  await using sink = await startSink(() => 'hang');
  const { webhook, events, lines } = open(sink);
  const line = `${'x'.repeat(99_999)}\n`;
  webhook.add([line]);
  await eventually(10_000, () => expect(sink.received).toHaveLength(1));
  for (let index = 0; index < 100; index += 1) webhook.add([line]);
  expect(events.counts.dropped).toBeGreaterThanOrEqual(100 - 83);
  await webhook.stop();
  expect(events.counts).toMatchObject({ sent: 0, dropped: 101 });
  expect(JSON.stringify(lines)).not.toContain('very-secret-key');
});

test('what waits is sent when the program stops', async () => {
  await using sink = await startSink();
  const { webhook } = open(sink, 60_000);
  webhook.add(['1\n']);
  await webhook.stop();
  expect(bodies(sink)).toEqual(['1\n']);
});

test('when the program stops, all batches that wait are sent, and those after a failure are counted', async () => {
  await using sink = await startSink(() => ({ status: sink.received.length === 3 ? 503 : 200 }));
  const { webhook, events } = open(sink, 60_000);
  webhook.add(Array.from({ length: 3_500 }, (_, index) => `{"n":${index}}\n`));
  await webhook.stop();
  expect(sink.received.map(({ body }) => body.trimEnd().split('\n').length)).toEqual([1_000, 1_000, 1_000]);
  expect(events.counts).toEqual({ sent: 2_000, dropped: 1_500, failed: 1 });
});
