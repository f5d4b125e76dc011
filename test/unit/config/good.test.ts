import { readFileSync } from 'node:fs';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, expectTypeOf, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { type Smtp, type SmtpServer, smtpServerOf } from '#channels/smtp-server.ts';
import { CheckSpec, type NodeSelection } from '#checks/index.ts';
import type { Config } from '#config/config.ts';
import { loadConfig } from '#config/load.ts';
import type { Target } from '#monitor/judge/target.ts';

const fixtures = new URL('../../fixtures/config/', import.meta.url).pathname;
const env = { SMTP_HOST: 'mail.example.com' };
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'watchpost-config-'));
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

async function load(text: string, path = join(folder, 'watchpost.yaml')) {
  await writeFile(path, text);
  return loadConfig({ path, env });
}

// The specs of the expected configurations are written as people write them: their defaults belong to the check types.
function expected(name: string): unknown {
  const text = readFileSync(join(fixtures, 'good', `${name}.json`), 'utf8');
  return JSON.parse(text.replaceAll('<fixtures>/', fixtures), (key, value: unknown) =>
    key === 'spec' ? CheckSpec.parse(value) : value,
  );
}

test.each([
  { name: 'one target and nothing else', file: 'minimal.yaml', result: 'minimal' },
  { name: 'every option', file: 'full.yaml', result: 'full' },
  { name: 'a check service of somebody else', file: 'foreign-service.yaml', result: 'foreign-service' },
  { name: 'a folder of files', file: 'folder', result: 'folder' },
])('$name becomes the expected configuration', async ({ file, result }) => {
  const config = await loadConfig({ path: join(fixtures, 'good', file), env });
  // Who may read the fixtures depends on who checked them out.
  expect(JSON.parse(JSON.stringify({ ...config, exposedFiles: [] }))).toEqual(expected(result));
});

// What the mail channel makes of its section.
function smtpOf({ sections }: Config): SmtpServer | null {
  const { value, files } = sections['smtp']!;
  return value === undefined ? null : smtpServerOf(value as Smtp, files);
}

test('a password is read without its line end, and shows itself nowhere', async () => {
  const config = await loadConfig({ path: join(fixtures, 'good/full.yaml'), env });
  expect(smtpOf(config)?.signIn?.password.reveal()).toBe('hunter2');
  const shown = [
    inspect(config, { depth: 9, showHidden: true }),
    JSON.stringify(config),
    String(smtpOf(config)?.signIn?.password),
  ];
  for (const text of shown) {
    expect(text).toContain('[secret]');
    expect(text).not.toContain('hunter2');
  }
});

const target = 'targets: { shop: { check: tcp, host: "shop.example.com:443" } }';

test.each([
  { url: 'smtp://mail.example.com', host: 'mail.example.com', port: 587, secure: false },
  { url: 'smtps://mail.example.com/', host: 'mail.example.com', port: 465, secure: true },
  { url: 'smtp://127.0.0.1:1025', host: '127.0.0.1', port: 1025, secure: false },
  { url: 'smtps://[::1]:4650', host: '::1', port: 4650, secure: true },
])('$url is $host, port $port', async ({ url, ...server }) => {
  const config = await load(`smtp: { url: "${url}", from: alerts@example.com }\n${target}`);
  expect(smtpOf(config)).toMatchObject({ ...server, signIn: null });
});

test('a password comes from the environment as well as from a file', async () => {
  await copyFile(join(fixtures, 'good/nats-ca.pem'), join(folder, 'ca.pem'));
  const text = `smtp: { url: smtp://m, username: u, password: "a\${SMTP_HOST}", from: a@example.com, ca_file: ca.pem }`;
  const smtp = smtpOf(await load(`${text}\n${target}`));
  expect(smtp?.signIn?.password.reveal()).toBe('amail.example.com');
  expect(smtp?.ca).toContain('BEGIN CERTIFICATE');
});

test('mails may go to this very machine', async () => {
  const config = await load(`notify: { ops: { email: { to: [root@localhost] } } }\n${target}`);
  expect(config.targets[0]?.recipients).toMatchObject([{ recipient: 'root@localhost' }]);
});

test('an absolute path of the database stays as it is', async () => {
  expect((await load(`data: /data/watchpost.db\n${target}`)).data).toBe('/data/watchpost.db');
});

test('targets keep the order of the file and may bear any permitted name', async () => {
  const names = ['zebra', '10', '2', 'constructor', 'valueof', '0_-'];
  const lines = names.map((name) => `  ${name}: { check: tcp, host: "a.example.com:1" }`);
  const config = await load(`targets:\n${lines.join('\n')}\n`);
  expect(config.targets.map(({ name }) => name)).toEqual(names);
});

test('a rule named down that is written down replaces the one that is always there', async () => {
  const config = await load(`rules: { down: { rounds: 5 } }\n${target}`);
  expect(config.targets[0]?.rules).toMatchObject([
    { name: 'down', rule: { rounds: { bad: 5, of: 5 } } },
    { name: 'unknown' },
  ]);
});

test('a target that cannot be judged is told of unless it has a rule for that, or never is asked for', async () => {
  const rulesOf = async (text: string) =>
    (await load(text)).targets[0]?.rules.map(({ name, rule }) => [name, rule.options]);
  expect((await rulesOf(`defaults: { unknown_after: 1h }\n${target}`))?.[1]).toEqual(['unknown', 3_600_000]);
  expect(await rulesOf(`defaults: { unknown_after: never }\n${target}`)).toHaveLength(1);
  const own = `defaults: { rules: [down, blind] }\nrules: { blind: { unknown: 2h, severity: critical } }\n${target}`;
  expect((await rulesOf(own))?.slice(1)).toEqual([['blind', 7_200_000]]);
});

test('a runner can take the nodes of a target as they are', async () => {
  expectTypeOf<Target['nodes']>().toEqualTypeOf<NodeSelection>();
  expect((await load(target)).targets[0]?.nodes).toEqual({ kind: 'all' } satisfies NodeSelection);
});

const arbitraryName = fc.stringMatching(/^[a-z0-9][a-z0-9_-]{0,10}$/);
const arbitraryDuration = fc.constantFrom('10s', '1m30s', '1.5h', '2d', '30000ms');
const arbitraryTarget = fc.record(
  {
    check: fc.constant('tcp'),
    host: fc.constant('shop.example.com:443'),
    timeout: fc.constantFrom('500ms', '3s'),
    every: arbitraryDuration,
    nodes: fc.constantFrom('all', 1, 2, ['de1'], ['de2', 'de1']),
    rules: fc.subarray(['down', 'slow']),
    notify: fc.constantFrom('all', [], ['ops']),
    labels: fc.dictionary(fc.stringMatching(/^[a-z][a-z0-9_]{0,8}$/), fc.string({ maxLength: 20 })),
  },
  { requiredKeys: ['check', 'host'] },
);
const arbitraryFile = fc.record(
  {
    data: fc.constantFrom('a.db', '/data/b.db'),
    http: fc.record({ listen: fc.constantFrom('127.0.0.1:0', '[::]:8080', 'localhost:80') }),
    nodes: fc.constant({ de1: { location: ['de', 'Germany', 'Berlin'] }, de2: {} }),
    defaults: fc.record({ every: arbitraryDuration, timezone: fc.constant('Asia/Tokyo') }, { requiredKeys: [] }),
    targets: fc.dictionary(arbitraryName, arbitraryTarget, { minKeys: 1, maxKeys: 4 }),
    rules: fc.constant({ slow: { failing: '50%', rounds: '2 of 3' } }),
    notify: fc.constant({ ops: { email: { to: ['ops@example.com'] } } }),
  },
  { requiredKeys: ['nodes', 'targets', 'rules', 'notify'] },
);

test('a configuration that is accepted is accepted again, and means the same, however its YAML is laid out', async () => {
  const styles = [
    { indent: 4, lineWidth: 20 },
    { collectionStyle: 'flow', defaultStringType: 'QUOTE_DOUBLE' },
    {
      defaultStringType: 'QUOTE_SINGLE',
      defaultKeyType: 'QUOTE_DOUBLE',
      sortMapEntries: true,
      aliasDuplicateObjects: false,
    },
  ] as const;
  await fc.assert(
    fc.asyncProperty(arbitraryFile, async (file) => {
      const text = stringify(file).replaceAll('${', '$$${');
      const config = await load(text);
      const byName = config.targets.toSorted((a, b) => (a.name < b.name ? -1 : 1));
      for (const style of styles) {
        const again = await load(stringify(parse(text), style));
        expect({ ...again, targets: again.targets.toSorted((a, b) => (a.name < b.name ? -1 : 1)) }).toEqual({
          ...config,
          targets: byName,
        });
      }
    }),
    { numRuns: 60 },
  );
});
