import { cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type KumaRow, makeKumaDatabase } from '../support/kuma-database.ts';
import { kumaTables } from '../support/kuma-rows.ts';
import { commandHere } from '../support/command.ts';
import { type ImportServers, importServers } from '../support/import-servers.ts';

const fixtures = new URL('../fixtures/import/', import.meta.url).pathname;
const env = { TOKEN: 't0ken', SLACK_URL: 'https://hooks.slack.com/services/T0/B0/y' };
let folder = '';
let servers: ImportServers;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'watchpost-import-'));
  servers = await importServers();
});
afterAll(async () => {
  await servers[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

// The fixture with the ports of servers that really answer.
async function livePath(name: string): Promise<string> {
  const path = join(folder, name);
  await cp(join(fixtures, name), path, { recursive: true });
  for (const entry of await readdir(path, { recursive: true })) {
    const file = join(path, entry);
    if ((await stat(file)).isFile()) await writeFile(file, servers.withPorts(await readFile(file, 'utf8')));
  }
  return path;
}

/** What one round of every target says, by name. */
async function verdicts(config: string): Promise<Readonly<Record<string, string>>> {
  const { out, err } = await commandHere(['run', '--config', config, '--once'], { env });
  expect(err).not.toMatch(/error/i);
  const rows = out.trim().split('\n').slice(1);
  return Object.fromEntries(rows.map((row) => row.split(/\s+/)).map(([name = '', verdict = '']) => [name, verdict]));
}

test('more than thirty endpoints of Gatus are imported, accepted, and see what Gatus would see', async () => {
  const to = join(folder, 'from-gatus', 'watchpost.yaml');
  const path = await livePath('gatus');
  const imported = await commandHere(['import', 'gatus', path, '--to', to], { env });
  expect(imported).toMatchObject({ code: 0, err: '' });
  const checked = await commandHere(['config', 'check', '--config', to], { env });
  expect(checked.out).toMatch(/is good: 39 targets on 1 node\n$/);
  const { router: _needsRights, ...seen } = await verdicts(to);
  expect(seen).toEqual({
    ...Object.fromEntries(Object.keys(seen).map((name) => [name, 'up'])),
    'json-bad-value': 'down',
    'ends-soon': 'down',
    closed: 'down',
    'mail-for-long': 'down',
  });
  expect(Object.keys(seen)).toHaveLength(37);
});

test('a database of Uptime Kuma is imported, accepted, and sees what Kuma would see', async () => {
  const path = join(folder, 'kuma.db');
  const live = Object.entries(kumaTables).map(([table, rows]) => [table, rows.map(withPorts)] as const);
  makeKumaDatabase(path, 2, Object.fromEntries(live));
  const to = join(folder, 'from-kuma', 'watchpost.yaml');
  const imported = await commandHere(['import', 'kuma', path, '--to', to]);
  expect(imported).toMatchObject({ code: 0, err: '' });
  const { router: _needsRights, 'web-server': _needsSystemd, ...seen } = await verdicts(to);
  expect(seen).toEqual({
    ...Object.fromEntries(Object.keys(seen).map((name) => [name, 'up'])),
    'missing-word': 'down',
    'unknown-authority': 'down',
    closed: 'down',
    mail: 'down',
    // An SSH server is none of these.
    database: 'down',
    orders: 'down',
    cache: 'down',
    sensor: 'down',
    // No container engine is there.
    container: 'unknown',
  });
  expect(Object.keys(seen)).toHaveLength(31);
});

test('--compare has Gatus and the imported checks judge the same responses, and writes nothing', async () => {
  const to = join(folder, 'compared', 'watchpost.yaml');
  const path = await livePath('gatus');
  const { code, out, err } = await commandHere(['import', 'gatus', path, '--compare', '--to', to], { env });
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toMatch(/^22 http targets, 22 responses: all verdicts are equal\nnot compared, [^\n]* tcp 4, [^\n]*\n$/);
  await expect(stat(to)).rejects.toThrow('ENOENT');
});

test('--compare lists the verdicts of Uptime Kuma that differ, and its exit code is 1', async () => {
  const path = join(folder, 'compared.db');
  const web = { type: 'json-query', interval: 1, url: servers.withPorts('http://127.0.0.1:18080/health.json') };
  const refused = servers.withPorts('http://127.0.0.1:18099/');
  makeKumaDatabase(path, 2, {
    monitor: [
      { id: 1, name: 'Same', ...web, json_path: 'load', json_path_operator: '<', expected_value: '5' },
      { id: 2, name: 'Counted', ...web, json_path: '$count(checks)', expected_value: '3' },
      { id: 3, name: 'Refused', type: 'http', interval: 60, url: refused },
      { id: 4, name: 'Port', type: 'port', interval: 60, hostname: '127.0.0.1', port: 18080 },
    ],
  });
  const { code, out, err } = await commandHere(['import', 'kuma', path, '--compare', '3s']);
  expect({ code, err }).toEqual({ code: 1, err: '' });
  const lines = out.split('\n');
  expect(lines[0]).toMatch(/^target +responses +first +Uptime Kuma +Watchpost$/);
  expect(lines[1]).toMatch(/^counted +[2-9] +20\S+Z +down: the query finds 2, which is not == 3 +up$/);
  expect(lines[2]).toMatch(/^3 http targets, \d+ responses: the verdicts of 1 target differ$/);
  expect(lines.slice(3)).toEqual(['not compared, because a response does not suffice: tcp 1', '']);

  const inJson = await commandHere(['import', 'kuma', path, '--compare', '--json']);
  expect(inJson.code).toBe(1);
  expect(JSON.parse(inJson.out)).toEqual({
    targets: 3,
    responses: 3,
    differences: [
      {
        target: 'counted',
        at: expect.any(Number),
        before: { status: 'down', reason: 'the query finds 2, which is not == 3' },
        now: { status: 'up', reason: '' },
      },
    ],
    skipped: [],
    not_compared: { tcp: ['port'] },
  });
});

function withPorts(row: KumaRow): KumaRow {
  return Object.fromEntries(
    Object.entries(row).map(([key, value]) => [
      key,
      value === null
        ? null
        : typeof value === 'number'
          ? Number(servers.withPorts(String(value)))
          : servers.withPorts(value),
    ]),
  );
}

test('modules, jobs and alerts of Prometheus are imported, accepted, and see what the exporter would see', async () => {
  const path = await livePath('blackbox');
  const to = join(folder, 'from-blackbox', 'watchpost.yaml');
  const files = ['prometheus.yml', 'blackbox.yml', 'alertmanager.yml'].map((name) => join(path, name));
  const imported = await commandHere(['import', 'blackbox', ...files, '--to', to]);
  expect(imported).toMatchObject({ code: 0, err: '' });
  const seen = await verdicts(to);
  const down = Object.keys(seen).filter((name) => seen[name] === 'down');
  expect(Object.keys(seen)).toHaveLength(23);
  expect(down.map((name) => name.replaceAll(/-\d{4,5}(?=-|$)/g, ''))).toEqual([
    'web-127-0-0-1-error',
    'by-module-127-0-0-1-strict-https_strict',
    'by-module-127-0-0-1-tcp_connect',
    'by-module-127-0-0-1-pg',
  ]);
});
