import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { startSink } from '../support/http-sink.ts';
import { startHttpTarget } from '../support/http-target.ts';
import { startOtlpReceiver } from '../support/otlp-receiver.ts';
import { createProgram, eventually } from '../support/program.ts';
import { closedPort } from '../support/tcp-servers.ts';

// What docs/reporting.md promises of a line.
const Time = z.iso.datetime();
const Line = z.strictObject({
  time: Time,
  due_at: Time,
  target: z.string(),
  check: z.string(),
  node: z.string(),
  status: z.enum(['up', 'down', 'unknown']),
  seconds: z.number().nullable(),
  phases: z.record(z.string(), z.number()),
  address: z.string().nullable(),
  error: z.strictObject({ source: z.string(), code: z.string(), message: z.string() }).nullable(),
  verdict: z.enum(['up', 'partial', 'down', 'unknown']),
  maintenance: z.boolean(),
  late: z.boolean(),
});

const linesOf = (text: string) =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => Line.parse(JSON.parse(line)));

test('results go to a file and a webhook, metrics to a collector, through reloads and a kill', async () => {
  await using target = await startHttpTarget();
  await using sink = await startSink();
  await using receiver = await startOtlpReceiver();
  await using program = await createProgram();
  const port = await closedPort();
  const down = await closedPort();
  writeFileSync(join(program.folder, 'secret'), 'a-secret-of-the-webhook\n', { mode: 0o600 });
  const config = (more: string) => `
data: watchpost.db
http: { listen: 127.0.0.1:${port} }
defaults: { every: 1s }
targets:
  shop: { check: http, host: "${target.url}", timeout: 900ms }
  mail: { check: tcp, host: "127.0.0.1:${down}", timeout: 900ms }
${more}`;
  const all = `export:
  results:
    file: { path: results.jsonl, max_size: 64KiB }
    webhook: { url: "${sink.origin}/results", secret_file: secret, every: 1s }
  otlp: { url: "${receiver.url}", every: 5s, resource: { deployment.environment.name: test } }
`;
  const first = await program.start(config(all));
  const file = join(program.folder, 'results.jsonl');
  const inFile = () => linesOf(readFileSync(file, 'utf8'));
  const ofBoth = (lines: readonly z.output<typeof Line>[]) => {
    expect(lines).toContainEqual(
      expect.objectContaining({ target: 'shop', check: 'http', node: 'zz1', status: 'up', error: null, verdict: 'up' }),
    );
    const error = expect.objectContaining({ source: 'target', code: 'refused' });
    expect(lines).toContainEqual(expect.objectContaining({ target: 'mail', check: 'tcp', status: 'down', error }));
    const up = lines.find(({ status }) => status === 'up');
    expect(up?.seconds).toBeGreaterThan(0);
    expect(up?.phases['connect']).toBeGreaterThan(0);
    expect(up?.address).toBe('127.0.0.1');
  };
  await eventually(20_000, () => ofBoth(inFile()));
  await eventually(20_000, () => ofBoth(sink.received.flatMap(({ body }) => linesOf(body))));
  expect(sink.received[0]?.headers['watchpost-signature']).toMatch(/^t=\d+,v1=[\da-f]{64}$/);

  await eventually(20_000, () => expect(receiver.requests.length).toBeGreaterThan(1));
  expect(receiver.problems).toEqual([]);
  const [pushed] = receiver.requests.at(-1)?.resourceMetrics ?? [];
  const attributes = Object.fromEntries(
    (pushed?.resource.attributes ?? []).map(({ key, value }) => [key, value.stringValue]),
  );
  expect(attributes).toMatchObject({ 'service.name': 'watchpost', 'deployment.environment.name': 'test' });
  const scraped = await (await fetch(`${first.url}/metrics`)).text();
  const names = (pushed?.scopeMetrics ?? []).flatMap(({ metrics }) => metrics.map(({ name }) => name));
  expect(names).toContain('watchpost_check_duration_seconds');
  expect(names).toContain('watchpost_target_state');
  expect(names.filter((name) => !scraped.includes(`# TYPE ${name} `))).toEqual([]);
  for (const to of ['file', 'webhook', 'otlp'])
    expect(scraped).toMatch(new RegExp(`^watchpost_exported_total\\{to="${to}"\\} [1-9]`, 'm'));

  await first.end('SIGKILL');
  const before = inFile().length;
  const next = await program.start(config(all));
  await eventually(20_000, () => expect(inFile().length).toBeGreaterThan(before));

  writeFileSync(
    join(program.folder, 'watchpost.yaml'),
    config('export: { results: { file: { path: other.jsonl } } }\n'),
  );
  next.process.kill('SIGHUP');
  await next.logged(/^configuration reloaded/);
  const other = join(program.folder, 'other.jsonl');
  await eventually(20_000, () => expect(linesOf(readFileSync(other, 'utf8')).length).toBeGreaterThan(2));
  expect(await next.end('SIGTERM')).toEqual({ code: 0, signal: null });
  const count = linesOf(readFileSync(other, 'utf8')).length;
  expect(count).toBeGreaterThan(2);
}, 180_000);

test('a file that cannot be written stops no check: it is logged once and counted', async () => {
  await using target = await startHttpTarget();
  await using program = await createProgram();
  const { url, log, end } = await program.start(`
data: watchpost.db
http: { listen: 127.0.0.1:${await closedPort()} }
defaults: { every: 1s }
targets: { shop: { check: http, host: "${target.url}", timeout: 900ms } }
export: { results: { file: { path: /dev/full } } }
`);
  await eventually(30_000, async () => {
    const text = await (await fetch(`${url}/metrics`)).text();
    expect(text).toMatch(/^watchpost_export_failures_total\{to="file"\} [2-9]/m);
    expect(text).toContain('watchpost_target_state{target="shop",state="up"} 1');
  });
  expect(log.filter(({ msg }) => msg.startsWith('cannot write results'))).toHaveLength(1);
  expect(await end('SIGTERM')).toEqual({ code: 0, signal: null });
}, 60_000);
