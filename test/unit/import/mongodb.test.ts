import { expect, test } from 'vitest';
import { mongodb } from '#import/kuma/mongodb.ts';
import { KumaMonitor } from '#import/kuma/schema.ts';

const imported = (database_connection_string: string, more: object = {}) => {
  const said: string[] = [];
  const monitor = KumaMonitor.parse({ id: 1, name: 'a', type: 'mongodb', database_connection_string, ...more });
  const draft = mongodb(monitor, (kind, text) => said.push(`${kind}: ${text}`));
  return { draft: draft === null ? null : (JSON.parse(JSON.stringify(draft)) as unknown), said };
};

const check = 'mongodb';
const host = 'a.example:27017';
const login = { username: 'ops', password: 'p@s:s' };

test.each([
  ['mongodb://a.example', { check, host }],
  ['mongodb://a.example:27018/', { check, host: 'a.example:27018' }],
  ['mongodb://ops:p%40s%3As@a.example/shop', { check, host, ...login, auth_database: 'shop', database: 'shop' }],
  ['mongodb://ops:p%40s%3As@a.example/shop?authSource=admin', { check, host, ...login, database: 'shop' }],
  ['mongodb://ops:p%40s%3As@a.example/?authSource=users', { check, host, ...login, auth_database: 'users' }],
  ['mongodb://a.example/?tls=true', { check, host, tls: { verify: true } }],
  ['mongodb://a.example/?ssl=true&tlsInsecure=true', { check, host, tls: { verify: false } }],
  ['mongodb://a.example/?replicaSet=rs0&directConnection=true', { check, host, expect: { set: 'rs0' } }],
  ['mongodb://ops:%zz@a.example', { check, host, username: 'ops', password: '%zz' }],
])('%s', (text, draft) => {
  expect(imported(text)).toEqual({ draft, said: [] });
});

test.each([
  ['mongodb+srv://ops:x@cluster.example'],
  ['mongodb://ops:x@a.example/?authMechanism=PLAIN'],
  ['mongodb://CN%3Dclient@a.example/?authMechanism=MONGODB-X509'],
  ['a.example'],
  [''],
])('%s is no check of this type', (text) => {
  expect(imported(text)).toEqual({ draft: null, said: [] });
});

const plain = { check, host };
test.each([
  [{ database_query: '{"ping": 1}' }, {}, []],
  [{ database_query: '{ "ping" : 1 }', json_path: '$' }, {}, []],
  [
    { database_query: '{"count": "orders"}', json_path: 'n', expected_value: '15' },
    { database: 'test', command: '{"count": "orders"}', path: '$.n', expect: { equals: '15' } },
    [],
  ],
  [
    { json_path: '$.ok' },
    { path: '$.ok', expect: { not: null } },
    ['differs: a value of 0, false or an empty text is up'],
  ],
  [{ json_path: '$count(a)' }, {}, ['lost: the JSON query $count(a): only simple paths can be carried over']],
  [{ expected_value: '1' }, {}, ['lost: its expected value 1: it has no JSON query']],
  [
    { database_query: '{"insert": "a"}' },
    {},
    ['lost: its command, which is none that only reads: the check sends ping'],
  ],
  [{ database_query: 'ping' }, {}, ['lost: its command, which is none that only reads: the check sends ping']],
])('%j', (more, keys, said) => {
  expect(imported('mongodb://a.example', more)).toEqual({ draft: { ...plain, ...keys }, said });
});

test('what has no place is named', () => {
  const options = 'tls=true&tlsCAFile=/ca.pem&tlsCertificateKeyFile=/client.pem';
  expect(imported(`mongodb://a.example,b.example:27018,c.example/?${options}`).said).toEqual([
    'lost: further servers, each of which needs a target of its own: b.example:27018, c.example',
    'lost: the authorities of tlsCAFile: give them as tls.ca',
    'lost: its client certificate',
  ]);
});
