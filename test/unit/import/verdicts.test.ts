import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findUnmet } from '#checks/http/expect.ts';
import type { ComparableTarget } from '../../../src/import/import.ts';
import { importFrom } from '../../../src/import/import.ts';
import { makeKumaDatabase } from '../../support/kuma-database.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'watchpost-verdicts-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

// What services answer at the address of their health.
const bodies: readonly string[] = [
  '',
  ' ',
  'ok',
  'OK\n',
  'UP',
  'Service Unavailable',
  '<html><head><title>Shop</title></head><body>ok</body></html>',
  '<h1>Database error</h1>',
  'null',
  'true',
  '15',
  '"ok"',
  '[]',
  '[1,2,3]',
  '[{"status":"UP"},{"status":"DOWN"}]',
  '{}',
  '{"status":"UP"}',
  '{ "status": "UP" }\n',
  '{"status":"DOWN"}',
  '{"status":"up"}',
  '{"status":null}',
  '{"status":true}',
  '{"status":{"code":"UP"}}',
  '{"status":"UP","load":3,"items":[1,2],"name":"shop"}',
  '{"status":"UP","load":"3","items":[],"name":""}',
  '{"status":"UP","load":7,"items":{"a":1},"name":"a/b shop"}',
  '{"status":"UP","load":3.5,"items":null,"name":"Shöp"}',
  '{"status":"UP","load":-1,"items":"none","name":"shop\\nmain"}',
  '{"load":1000000,"nested":{"list":[{"name":"a"},{"name":"b"}]}}',
  '{"load":1e21,"nested":{"list":[]}}',
  '{"load":0,"nested":null}',
  '{"status":"UP","load":',
  '\u{feff}{"status":"UP"}',
  '{"status":"<UP>","load":true}',
];

/** Where the verdicts of both differ: by target, the bodies with the verdict of the other monitor. */
async function differences(targets: readonly ComparableTarget[], status = 200) {
  const found: Record<string, readonly string[]> = {};
  for (const { name, spec, judge } of targets) {
    if (spec.type !== 'http') throw new Error(`${name} is no http check`);
    const differing: string[] = [];
    for (const text of bodies) {
      const body = Buffer.from(text);
      const valuesOf = () => [];
      const { isUp } = await judge({
        status,
        valuesOf,
        body,
        isComplete: true,
        address: '127.0.0.1',
        headSeconds: 0.01,
        receivedAt: 0,
        certificateExpiresAt: null,
      });
      const response = {
        head: { status, reason: '', headers: {}, valuesOf },
        body: { bytes: body.length, complete: true, content: body },
        certificate: null,
        seconds: 0.01,
        now: 0,
      };
      const isUpHere = findUnmet(spec.expect, response) === null;
      if (isUp !== isUpHere) differing.push(`${isUp ? 'up' : 'down'}: ${text}`);
    }
    if (differing.length > 0) found[name] = differing;
  }
  return found;
}

async function fromKuma(monitors: Readonly<Record<string, Readonly<Record<string, string | number>>>>) {
  const path = join(folder, `kuma-${Object.keys(monitors).join('-').slice(0, 40)}.db`);
  const rows = Object.entries(monitors).map(([name, keys], index) => ({
    id: index + 1,
    name,
    interval: 60,
    url: 'http://127.0.0.1/',
    ...keys,
  }));
  makeKumaDatabase(path, 2, { monitor: rows });
  return importFrom('kuma', [path], { env: {}, withHistory: false });
}

async function fromGatus(conditions: Readonly<Record<string, readonly string[]>>) {
  const path = join(folder, `gatus-${Object.keys(conditions).join('-').slice(0, 40)}.yaml`);
  const endpoints = Object.entries(conditions).map(([name, list]) => ({
    name,
    url: 'http://127.0.0.1/',
    conditions: list,
  }));
  await writeFile(path, JSON.stringify({ endpoints }));
  return importFrom('gatus', [path], { env: {}, withHistory: false });
}

const query = (json_path: string, json_path_operator: string, expected_value: string) => ({
  type: 'json-query',
  json_path,
  json_path_operator,
  expected_value,
});

test('monitors of Uptime Kuma that are imported without a note have its verdict on every body', async () => {
  const { comparable, notes } = await fromKuma({
    plain: { type: 'http' },
    'word-ok': { type: 'keyword', keyword: 'ok' },
    'no-error': { type: 'keyword', keyword: 'error', invert_keyword: 1 },
    'status-up': query('$.status', '==', 'UP'),
    'status-not-down': query('status', '!=', 'DOWN'),
    'status-contains': query('status', 'contains', 'U'),
    'status-true': query('status', '==', 'true'),
    'load-three': query('load', '==', '3'),
    'load-negative': query('load', '==', '-1'),
    'second-name': query('nested.list[1].name', '==', 'b'),
    'code-up': query('status.code', '==', 'UP'),
  });
  expect(notes.filter(({ text }) => !text.startsWith('everywhere'))).toEqual([]);
  expect(comparable).toHaveLength(11);
  expect(await differences(comparable)).toEqual({});
  expect(await differences(comparable, 503)).toEqual({});
});

test('where an import says that a query of Uptime Kuma differs or is lost, the comparison shows it', async () => {
  const { comparable, notes } = await fromKuma({
    compact: { type: 'keyword', keyword: '{"status":"UP"}' },
    below: query('load', '<', '5'),
    counted: query('$count(items)', '==', '2'),
  });
  expect(notes.map(({ kind, text }) => `${kind}: ${text}`)).toEqual([
    'differs: below: a number in quotes is not compared as a number',
    'lost: counted: the JSON query $count(items): only simple paths can be carried over',
    'differs: everywhere: five redirects are followed at most',
    'differs: everywhere: a keyword is searched in the body as sent, not in reformatted JSON',
  ]);
  const found = await differences(comparable);
  expect(found['compact']).toEqual(['up: { "status": "UP" }\n']);
  expect(found['below']).toEqual(['up: {"status":"UP","load":"3","items":[],"name":""}']);
  expect(found['counted']).toHaveLength(bodies.length - 1);
});

test('a query of Uptime Kuma that never ends is down', async () => {
  const { comparable } = await fromKuma({ endless: query('($f := function($n) { $f($n + 1) }; $f(1))', '==', '1') });
  const [{ judge } = expect.unreachable('not imported')] = comparable;
  const response = { status: 200, valuesOf: () => [], body: Buffer.from('{}'), isComplete: true, address: null };
  expect(await judge({ ...response, headSeconds: 0, receivedAt: 0, certificateExpiresAt: null })).toEqual({
    isUp: false,
    reason: expect.stringMatching(/^the query fails: /),
  });
});

test('endpoints of Gatus that are imported without a note have its verdict on every body', async () => {
  const { comparable, notes } = await fromGatus({
    'status-ok': ['[STATUS] == 200'],
    'status-any': ['[STATUS] == any(200, 503)'],
    'status-below': ['[STATUS] < 300', '[RESPONSE_TIME] < 500'],
    'body-is': ['[BODY] == ok'],
    'body-pattern': ['[BODY] == pat(*ok*)'],
    'body-without': ['[BODY] != pat(*error*)'],
    'status-up': ['[STATUS] == 200', '[BODY].status == UP'],
    'second-name': ['[BODY].nested.list[1].name == b'],
  });
  expect(notes.filter(({ text }) => !text.startsWith('everywhere'))).toEqual([]);
  expect(comparable).toHaveLength(8);
  // Go takes no byte order mark for JSON.
  expect(await differences(comparable)).toEqual({ 'status-up': ['down: \u{feff}{"status":"UP"}'] });
  expect(await differences(comparable, 503)).toEqual({});
});

test('where a condition of Gatus reads a body in another way, the comparison shows it', async () => {
  const { comparable } = await fromGatus({
    below: ['[BODY].load < 5'],
    million: ['[BODY].load == 1000000'],
    'two-items': ['len([BODY].items) == 2'],
    'has-name': ['has([BODY].name) == true'],
    'name-shop': ['[BODY].name == pat(sh*)'],
    address: ['[IP] == 192.0.2.1'],
  });
  const found = await differences(comparable);
  expect(found['million']).toEqual(['down: {"load":1000000,"nested":{"list":[{"name":"a"},{"name":"b"}]}}']);
  expect(found['has-name']).toEqual(
    ['true', '15', '"ok"', '[]', '[1,2,3]', '[{"status":"UP"},{"status":"DOWN"}]'].map((text) => `up: ${text}`),
  );
  expect(found['below']).toContain('up: {"status":"UP","load":"3","items":[],"name":""}');
  expect(found['name-shop']).toEqual([String.raw`up: {"status":"UP","load":-1,"items":"none","name":"shop\nmain"}`]);
  expect(found['address']).toHaveLength(bodies.length);
  expect(Object.keys(found).toSorted()).toEqual(['address', 'below', 'has-name', 'million', 'name-shop', 'two-items']);
});

test('without a response, conditions of Gatus are judged as well', async () => {
  const { comparable } = await fromGatus({ odd: ['[STATUS] != 500'], usual: ['[STATUS] == 200'] });
  const verdicts = await Promise.all(comparable.map(async ({ judge }) => (await judge(null)).isUp));
  expect(verdicts).toEqual([true, false]);
});

test.each([
  ['[HEADER].Content-Type == pat(text/*)', true],
  ['[HEADER].X-None == text', false],
  ['has([HEADER].content-type) == true', true],
  ['[STATUS] == 0xC8', true],
  ['[CERTIFICATE_EXPIRATION] > 48h', true],
  ['[CERTIFICATE_EXPIRATION] > 96h', false],
  ['[RESPONSE_TIME] <= 250', true],
  ['len([BODY].data) >= 2', true],
  ['[BODY].data[1].id == 2', true],
  ['[BODY].data == [map[id:1] map[id:2]]', true],
  ['[BODY].user == {"a":1,"b":[true,null]}', true],
  ['[BODY].price == 1.5', true],
  ['[BODY].price > 1', false],
  ['[BODY].price == pat(1.?)', true],
  ['[BODY].price == pat([^a-z].[0-9])', true],
  ['[BODY].price == any(2, 1.5)', true],
  ['[BODY].none == x', false],
  ['[BODY].none != x', true],
  ['nonsense', false],
])('Gatus judges %s as %s', async (condition, isUp) => {
  const path = join(folder, 'one.yaml');
  await writeFile(path, JSON.stringify({ endpoints: [{ name: 'one', url: 'https://a/', conditions: [condition] }] }));
  const { comparable } = await importFrom('gatus', [path], { env: {}, withHistory: false });
  const body = Buffer.from('{"data":[{"id":1},{"id":2}],"user":{"b":[true,null],"a":1},"price":1.5}');
  const headers = new Map([['content-type', ['text/html']]]);
  const response = { status: 200, valuesOf: (name: string) => headers.get(name) ?? [], body, isComplete: true };
  const times = { headSeconds: 0.25, receivedAt: 0, certificateExpiresAt: 3 * 86_400_000 };
  const verdicts = comparable.map(async ({ judge }) => judge({ ...response, ...times, address: '192.0.2.9' }));
  expect((await Promise.all(verdicts)).map((verdict) => verdict.isUp)).toEqual([isUp]);
});

// The types of Uptime Kuma 2.
const importedTypes =
  'http keyword json-query real-browser websocket-upgrade port ping dns smtp ntp push globalping mqtt rabbitmq sqlserver postgres mysql mongodb redis system-service';
const otherTypes =
  'manual docker grpc-keyword kafka-producer radius snmp steam gamedig tailscale-ping sip-options oracledb';

test('a monitor of every type of Uptime Kuma is imported or named as left out', async () => {
  const host = {
    hostname: 'shop.example.com',
    port: 80,
    push_token: 'abcdefghij',
    system_service_name: 'nginx',
    rabbitmq_nodes: '["http://127.0.0.1"]',
  };
  const connection = { database_connection_string: 'mongodb://ops:x@127.0.0.1/shop', mqtt_topic: 'a' };
  const strings: Readonly<Record<string, string>> = {
    postgres: 'postgres://ops:x@127.0.0.1/shop',
    mysql: 'mysql://ops:x@127.0.0.1/shop',
    redis: 'redis://127.0.0.1',
    sqlserver: 'Server=127.0.0.1;User Id=ops',
  };
  const monitors = `${importedTypes} ${otherTypes}`.split(' ').map((type) => {
    const database_connection_string = strings[type] ?? connection.database_connection_string;
    const url = type === 'websocket-upgrade' ? 'ws://127.0.0.1/' : 'http://127.0.0.1/';
    return [type, { ...host, ...connection, database_connection_string, type, url, keyword: 'x' }] as const;
  });
  const { comparable, incomparable, notes } = await fromKuma(Object.fromEntries(monitors));
  const imported = [...comparable.map(({ name }) => name), ...[...incomparable.values()].flat()];
  const leftOut = notes.flatMap(({ kind, text }) => (kind === 'left out' ? [text.replace(/:.*/, '')] : []));
  expect(new Set(imported)).toEqual(new Set(importedTypes.split(' ')));
  expect(new Set(leftOut)).toEqual(new Set(otherTypes.split(' ')));
});
