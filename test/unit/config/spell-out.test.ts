import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '#config/load.ts';
import { configJsonSchema } from '#config/shape/schema.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'watchpost-config-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

const acceptedByEditors = new Ajv({ strict: false, validateFormats: false }).compile(configJsonSchema());

async function load(text: string) {
  const path = join(folder, 'watchpost.yaml');
  await writeFile(path, text);
  expect(acceptedByEditors(parse(text, { merge: true })), JSON.stringify(acceptedByEditors.errors)).toBe(true);
  return loadConfig({ path, env: {} });
}

const ops = 'notify: { ops: { email: { to: [ops@example.com] } }, dev: { email: { to: [dev@example.com] } } }\n';

test('an objective is that of the target, of its group, of its check type or of all', async () => {
  const { targets } = await load(`targets:
  own: { check: tcp, host: "a:1", labels: { team: web }, objective: 99.95% over 90d }
  grouped: { check: tcp, host: "b:1", labels: { team: web } }
  typed: { check: http, host: c.example.com }
  both: { check: http, host: f.example.com, labels: { team: web } }
  other: { check: tcp, host: "d:1" }
  without: { check: tcp, host: "e:1", objective: none }
  month: { check: tcp, host: "g:1", objective: 99.9% over month }
  berlin: { check: tcp, host: "h:1", objective: 99.9% over month in Europe/Berlin }
defaults: { objective: 99% over 30d, http: { objective: 95% over 7d } }
groups: { web: { match: { team: web }, objective: 99.9% over 30d } }
`);
  const day = 86_400_000;
  expect(targets.map(({ objective }) => objective)).toEqual([
    { ratio: 0.9995, overMs: 90 * day },
    { ratio: 0.999, overMs: 30 * day },
    { ratio: 0.95, overMs: 7 * day },
    { ratio: 0.999, overMs: 30 * day },
    { ratio: 0.99, overMs: 30 * day },
    null,
    { ratio: 0.999, overMs: 31 * day + day / 24, monthIn: 'UTC' },
    { ratio: 0.999, overMs: 31 * day + day / 24, monthIn: 'Europe/Berlin' },
  ]);
});

test('two hundred like targets are four lines', async () => {
  const hosts = Array.from({ length: 200 }, (_, index) => `https://shop${index}.example.com`);
  const { targets } = await load(`targets:\n  shop:\n    check: http\n    hosts: [${hosts.join(', ')}]\n`);
  expect(targets).toHaveLength(200);
  expect(targets[7]).toMatchObject({ name: 'shop-shop7-example-com', spec: { host: 'https://shop7.example.com' } });
});

test('hosts in a map are named by its keys', async () => {
  const { targets } = await load('targets: { db: { check: tcp, hosts: { main: "a:1", spare: "b:2" }, every: 5m } }');
  expect(targets).toMatchObject([
    { name: 'db-main', spec: { host: 'a:1' }, schedule: { everyMs: 300_000 } },
    { name: 'db-spare', spec: { host: 'b:2' }, schedule: { everyMs: 300_000 } },
  ]);
});

test('who names a target with several hosts means all of them', async () => {
  const { targets, maintenance } = await load(`targets:
  router: { check: ping, hosts: { a: 192.0.2.1, b: 192.0.2.2 } }
  shop: { check: tcp, host: "shop:1", depends_on: router }
  blog: { check: tcp, host: "blog:1", depends_on: [shop, router] }
maintenance:
  - { targets: router, cron: "0 3 * * *", duration: 1h }
  - { targets: all, cron: "0 4 * * *", duration: 1h }
`);
  expect(targets.map(({ dependsOn }) => dependsOn)).toEqual([
    [],
    [],
    ['router-a', 'router-b'],
    ['shop', 'router-a', 'router-b'],
  ]);
  expect(maintenance.map((one) => one.targets)).toEqual([['router-a', 'router-b'], 'all']);
});

test('the defaults of a check type hold for its targets, key by key in maps, and what a target says wins', async () => {
  const { targets } = await load(`defaults:
  every: 5m
  http: { timeout: 4s, every: 20s, redirects: 2, expect: { status: 200, latency: 2s }, labels: { kind: web } }
targets:
  plain: { check: http, host: a.example.com }
  own: { check: http, host: b.example.com, timeout: 1s, expect: { status: 204 }, labels: { team: web } }
  timed: { check: http, host: c.example.com, cron: "0 * * * *" }
  other: { check: tcp, host: "d.example.com:1" }
`);
  expect(targets).toMatchObject([
    {
      spec: { timeout: 4_000, redirects: 2, expect: { latency: 2_000 } },
      schedule: { everyMs: 20_000 },
      labels: { kind: 'web' },
    },
    {
      spec: { timeout: 1_000, expect: { status: [{ from: 204, to: 204 }], latency: 2_000 } },
      labels: { team: 'web', kind: 'web' },
    },
    { schedule: { kind: 'cron' } },
    { spec: { timeout: 5_000 }, schedule: { everyMs: 300_000 }, labels: {} },
  ]);
});

test('a group holds for targets with its labels, together with other groups, unless a target says otherwise', async () => {
  const { targets, maintenance } = await load(`${ops}targets:
  shop: { check: tcp, host: "a:1", labels: { team: web, tier: "1" } }
  blog: { check: tcp, host: "b:1", labels: { team: web }, rules: down }
  wiki: { check: tcp, host: "c:1" }
rules: { slow: { latency: { above: 1s } } }
defaults: { notify: [] }
groups:
  web: { match: { team: web }, rules: [slow], notify: ops, maintenance: [{ cron: "0 3 * * *", duration: 1h }] }
  first: { match: { team: web, tier: "1" }, rules: [down, slow], notify: [dev] }
`);
  const said = targets.map(({ name, rules, recipients }) => [
    name,
    rules.flatMap(({ name, rule }) => (rule.kind === 'unknown' ? [] : [name])).join(' '),
    recipients.map(({ recipient }) => recipient).join(' '),
  ]);
  expect(said).toEqual([
    ['shop', 'slow down', 'ops@example.com dev@example.com'],
    ['blog', 'down', 'ops@example.com'],
    ['wiki', 'down', ''],
  ]);
  expect(maintenance).toMatchObject([{ targets: ['shop', 'blog'], time: { durationMs: 3_600_000 } }]);
});

test('a group of thousands of targets is taken into maintenance whole', async () => {
  const hosts = Array.from({ length: 3_000 }, (_, index) => `"h${index}:1"`);
  const { targets, maintenance } =
    await load(`targets: { h: { check: tcp, hosts: [${hosts.join(', ')}], labels: { team: web } } }
groups: { web: { match: { team: web }, rules: [down], maintenance: [{ cron: "0 3 * * *", duration: 1h }] } }
`);
  expect(targets).toHaveLength(3_000);
  expect(maintenance[0]?.targets).toHaveLength(3_000);
});

test('anchors have a place of their own, and one name stands for a list of one', async () => {
  const { targets, summary } = await load(`x-times: &often { every: 10s, nodes: zz1 }
${ops}targets: { shop: { check: tcp, host: "a:1", <<: *often, rules: down, notify: dev } }
summary: { cron: "0 8 * * *", notify: ops }
maintenance: [{ targets: shop, cron: "0 3 * * *", duration: 1h }]
`);
  expect(targets).toMatchObject([
    {
      schedule: { everyMs: 10_000 },
      nodes: { kind: 'named', names: ['zz1'] },
      rules: [{ name: 'down' }, { name: 'unknown' }],
      recipients: [{ recipient: 'dev@example.com' }],
    },
  ]);
  expect(summary).toMatchObject({ notify: ['ops'] });
});

test.each([
  { check: 'http', host: 'shop.example.com', timeout: 2_000 },
  { check: 'tcp', host: 'shop.example.com:443', timeout: 2_000 },
  { check: 'udp', host: 'time.example.com:123', timeout: 1_000 },
])('a default timeout of $check that does not fit between two rounds gives way', async ({ check, host, timeout }) => {
  const { targets } = await load(`targets: { shop: { check: ${check}, host: "${host}", every: 2s } }`);
  expect(targets[0]?.spec).toMatchObject({ timeout });
});

test('a file that is not UTF-8 is refused, with the line', async () => {
  const path = join(folder, 'latin.yaml');
  await writeFile(
    path,
    Buffer.from('targets:\n  shop: { check: tcp, host: "a:1", labels: { city: "K\xf6ln" } }\n', 'latin1'),
  );
  await expect(loadConfig({ path, env: {} })).rejects.toThrow(
    `${path}:2:1: this line is not UTF-8; save the file as UTF-8`,
  );
});
