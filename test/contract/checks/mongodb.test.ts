import { once } from 'node:events';
import { Long, serialize } from 'bson';
import { assert, asyncProperty, nat } from 'fast-check';
import { MongoClient } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { issue } from '../../support/certificates.ts';
import { type MongoOptions, opMsgReply, startMongo } from '../../support/mongo-server.ts';
import { probeOnce } from '../../support/probe-once.ts';
import { closedPort, tcpServer } from '../../support/tcp-servers.ts';

// There is no MongoDB in Debian: the server is one of ours, which the official driver takes for a MongoDB before our client meets it.

const password = 'correct horse';
const orders = [
  { _id: 1, state: 'new', at: new Date('2026-05-04T03:02:01Z') },
  { _id: 2, state: 'new' },
  { _id: 3, state: 'paid', items: ['a', 'b'] },
];
const usual: MongoOptions = {
  users: [
    { name: 'ann', password },
    { name: 'old, =user=', password, mechanisms: ['SCRAM-SHA-1'], database: 'shop' },
    { name: 'bob', password: 'fi sh', mechanisms: ['SCRAM-SHA-256'] },
    { name: 'tim', password, reads: ['other'] },
    { name: 'eve', password, mechanisms: [] },
  ],
  data: { 'shop.orders': orders },
};

async function ask(host: string, more: object = {}) {
  return probeOnce('mongodb', { host, timeout: '2s', ...more });
}
const as = (username: string, secret = password) => ({ username, password: secret });

describe('the official driver takes the server for a MongoDB', () => {
  const signIns = [
    ['SCRAM-SHA-256', { username: 'ann', password }, 'admin'],
    ['SCRAM-SHA-1', { username: 'ann', password }, 'admin'],
    ['DEFAULT', { username: 'bob', password: '\ufb01\u00a0s\u00adh' }, 'admin'],
  ] as const;

  test.each([false, true])('and reads; a longer login: %s', async (isLongWinded) => {
    await using server = await startMongo({ ...usual, isLongWinded });
    for (const [authMechanism, auth, authSource] of signIns) {
      await using client = new MongoClient(`mongodb://${server.host}`, {
        auth,
        authMechanism,
        authSource,
        directConnection: true,
        serverSelectionTimeoutMS: 5_000,
      });
      const shop = client.db('shop');
      expect(await shop.command({ ping: 1 })).toMatchObject({ ok: 1 });
      expect(await shop.collection('orders').find({ state: 'new' }).toArray()).toEqual(orders.slice(0, 2));
      expect(await shop.command({ count: 'orders' })).toMatchObject({ n: 3 });
      expect((await client.db().admin().listDatabases()).databases).toMatchObject([{ name: 'shop' }]);
      await expect(shop.command({ drop: 'orders' })).rejects.toThrow('no such command');
    }
  });

  test('and is refused with a wrong password', async () => {
    await using server = await startMongo(usual);
    const auth = { username: 'ann', password: 'wrong' };
    await using client = new MongoClient(`mongodb://${server.host}`, { auth, directConnection: true });
    await expect(client.db('shop').command({ ping: 1 })).rejects.toThrow('Authentication failed.');
  });
});

describe.each([false, true])('a longer login: %s', (isLongWinded) => {
  test.each([
    ['with both mechanisms', as('ann')],
    ['with SCRAM-SHA-1 alone', { ...as('old, =user='), auth_database: 'shop' }],
    ['with SCRAM-SHA-256 alone, and a password in other characters', as('bob', '\ufb01\u00a0s\u00adh')],
  ])('a user %s', async (_, login) => {
    await using server = await startMongo({ ...usual, isLongWinded });
    expect(await ask(server.host, login)).toMatchObject({
      status: 'up',
      address: '127.0.0.1',
      phases: { connect: expect.any(Number), login: expect.any(Number), query: expect.any(Number) },
      detail: { server: 'MongoDB 8.0.4', value: '1', rows: null, tls: null, role: 'standalone', set: null },
    });
  });
});

test('values of replies', async () => {
  await using server = await startMongo(usual);
  const values = [
    [{ count: 'orders', query: { state: 'new' } }, '$.n', '2', null],
    ['{"count": "orders"}', '$.n', '3', null],
    [{ find: 'orders' }, '$.cursor.firstBatch[2].state', 'paid', 3],
    [{ find: 'orders' }, '$.cursor.firstBatch[2].items', '2', 3],
    [{ find: 'orders' }, '$.cursor.firstBatch[0].at', '{"$date":"2026-05-04T03:02:01Z"}', 3],
    [{ find: 'orders', filter: { _id: { $numberInt: '2' } } }, '$.cursor.firstBatch[0].state', 'new', 1],
    [{ find: 'orders', filter: { state: 'lost' } }, '$.cursor.firstBatch[0].state', null, 0],
    [{ listDatabases: 1 }, '$.databases[*].name', 'shop', null],
  ] as const;
  for (const [command, path, value, rows] of values) {
    const { detail } = await ask(server.host, { ...as('ann'), database: 'shop', command, path });
    expect(detail, path).toMatchObject({ value, rows });
  }
});

test('a cursor that is not at its end is closed', async () => {
  await using server = await startMongo(usual);
  const command = { find: 'orders', batchSize: 1 };
  const expected = { rows: { min: 1, max: 1 } };
  expect(await ask(server.host, { ...as('ann'), database: 'shop', command, expect: expected })).toMatchObject({
    status: 'up',
    detail: { rows: 1 },
  });
  expect(server.commands).toEqual(['hello', 'saslStart', 'saslContinue', 'find', 'killCursors', 'buildInfo']);
});

test('without a user there is no login', async () => {
  await using server = await startMongo({ data: {} });
  expect(await ask(server.host)).toMatchObject({ status: 'up' });
  expect(server.commands).toEqual(['hello', 'ping', 'buildInfo']);
});

test('a server that keeps its version to itself', async () => {
  const buildInfo = () => ({ ok: 0, errmsg: 'Command buildInfo requires authentication', code: 13 });
  await using server = await startMongo({ instead: { buildInfo } });
  expect(await ask(server.host)).toMatchObject({ status: 'up', detail: { server: null } });
});

const inSet = { setName: 'rs0', hosts: ['127.0.0.1:27017'], me: '127.0.0.1:27017' };

test.each([
  [{}, 'standalone', null],
  [inSet, 'primary', 'rs0'],
  [{ ...inSet, isWritablePrimary: false, secondary: true }, 'secondary', 'rs0'],
  [{ ...inSet, isWritablePrimary: false, arbiterOnly: true }, 'arbiter', 'rs0'],
  [{ ...inSet, isWritablePrimary: false }, 'other', 'rs0'],
  [{ isWritablePrimary: false, isreplicaset: true }, 'other', null],
  [{ msg: 'isdbgrid' }, 'mongos', null],
])('a server that answers hello with %j', async (hello, role, set) => {
  await using server = await startMongo({ ...usual, hello });
  const command = { find: 'orders' };
  const query = async (expected: object) =>
    ask(server.host, { ...as('ann'), database: 'shop', command, expect: expected });
  const is = set === null ? role : `${role} of ${set}`;
  expect(await query({ role, ...(set === null ? {} : { set }) })).toMatchObject({
    status: 'up',
    detail: { role, set, rows: 3 },
  });
  const others = ['primary', 'secondary', 'mongos'].filter((one) => one !== role);
  expect(await query({ role: others })).toMatchObject({
    status: 'down',
    failure: { code: 'answer', message: `the server is ${is}, expected ${others.join(' or ')}` },
  });
  expect(await query({ set: 'rs1' })).toMatchObject({
    status: 'down',
    failure: { code: 'answer', message: `the server is ${is}, expected the replica set "rs1"` },
  });
});

test.each([
  [as('ann', 'wrong'), 'status', 'the server refused the login: Authentication failed.'],
  [as('nobody'), 'status', 'the server refused the login: Authentication failed.'],
  [
    as('eve'),
    'status',
    'the server refused the login: it offers nothing to this user, expected SCRAM-SHA-256 or SCRAM-SHA-1',
  ],
  [{ command: { count: 'orders' } }, 'status', 'the server refused: Command count requires authentication'],
  [
    { ...as('tim'), database: 'shop', command: { count: 'orders' } },
    'status',
    'the server refused: not authorized on shop to execute command { count: "orders" }',
  ],
  [{ ...as('ann'), command: { dbStats: 1 } }, 'status', "the server refused: no such command: 'dbStats'"],
  [{ ...as('ann'), expect: { equals: 2 } }, 'answer', 'the value is "1", expected 2'],
  [
    { ...as('ann'), database: 'shop', command: { find: 'orders' }, expect: { rows: { min: 4 } } },
    'answer',
    '3 rows, expected at least 4',
  ],
  [{ ...as('ann'), path: '$.none', expect: { not: null } }, 'answer', 'the value is nothing, expected something else'],
] as const)('%j', async (options, code, message) => {
  await using server = await startMongo(usual);
  expect(await ask(server.host, options)).toMatchObject({
    status: 'down',
    failure: { source: 'target', code, message },
  });
});

test('a command that is no Extended JSON is the fault of its author', async () => {
  await using server = await startMongo(usual);
  const command = { find: 'orders', filter: { _id: { $oid: 'zz' } } };
  expect(await ask(server.host, { ...as('ann'), command })).toMatchObject({
    status: 'unknown',
    failure: {
      source: 'node',
      code: 'unsupported',
      message: expect.stringMatching(/^the command is no Extended JSON: /),
    },
  });
});

test('TLS from the start', async () => {
  const made = await issue({ ips: ['127.0.0.1'] });
  await using server = await startMongo({ ...usual, tls: made });
  expect(await ask(server.host, { ...as('ann'), tls: { ca: made.cert } })).toMatchObject({
    status: 'up',
    phases: { tls: expect.any(Number) },
    facts: { certificate_expires_at: expect.any(Number) },
    detail: { tls: { certificate: { names: ['127.0.0.1'] } } },
  });
  expect(await ask(server.host, { ...as('ann'), tls: true })).toMatchObject({
    status: 'down',
    failure: { code: 'certificate_untrusted' },
  });
  expect(await ask(server.host, as('ann'))).toMatchObject({
    status: 'down',
    failure: { source: 'target', code: expect.stringMatching(/^(?:closed|reset|protocol)$/) },
  });
});

const nested = (depth: number): Buffer => {
  const level = Buffer.from([0, 0, 0, 0, 3, 0x61, 0]);
  const bytes = Buffer.concat([...Array.from({ length: depth }, () => level), Buffer.alloc(depth)]);
  for (let at = 0; at < depth; at += 1) bytes.writeInt32LE(bytes.length - at * 8, at * 7);
  return bytes;
};
const good = serialize({ ok: 1 });

describe.each(['hello', 'saslStart', 'saslContinue', 'ping'])('a bad answer to %s', (name) => {
  const to = { hello: 1, saslStart: 2, saslContinue: 3, ping: 4 }[name] ?? 0;
  test.each([
    ['in another protocol', Buffer.from('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n'), 'protocol'],
    ['for another request', opMsgReply(good, { to: 99 }), 'protocol'],
    ['with unknown flags', opMsgReply(good, { to, flags: 2 }), 'protocol'],
    ['with another section', opMsgReply(good, { to, kind: 1 }), 'protocol'],
    ['of 2 GB', opMsgReply(good, { to, length: 0x7f_ff_ff_ff }), 'too_large'],
    ['of less than nothing', opMsgReply(good, { to, length: -1 }), 'protocol'],
    ['of 20 bytes', opMsgReply(good, { to, length: 20 }), 'protocol'],
    ['that is not BSON', opMsgReply(Buffer.alloc(20, 0xff), { to }), 'protocol'],
    ['with a length of BSON that is wrong', opMsgReply(Buffer.concat([good, Buffer.alloc(3)]), { to }), 'protocol'],
    ['that is nested deeply', opMsgReply(nested(100_000), { to }), 'protocol'],
    ['with an error without words', opMsgReply(serialize({ ok: 0 }), { to }), 'status'],
  ])('%s', async (_, bytes, code) => {
    await using server = await startMongo({ ...usual, instead: { [name]: () => bytes } });
    const outcome = await ask(server.host, as('ann'));
    expect(outcome).toMatchObject({ status: 'down', failure: { source: 'target', code } });
    expect(JSON.stringify(outcome)).not.toContain(password);
  });

  test('that never comes', async () => {
    await using server = await startMongo({ ...usual, instead: { [name]: () => null } });
    expect(await ask(server.host, { ...as('ann'), timeout: '300ms' })).toMatchObject({
      status: 'down',
      failure: {
        code: 'timeout',
        message:
          name === 'ping' ? 'no answer to the query within 300ms' : 'the server did not finish the login within 300ms',
      },
    });
  });
});

test('values that are nested deeply', async () => {
  await using server = await startMongo({ instead: { ping: () => opMsgReply(nestedIn(2_000), { to: 2 }) } });
  const { status } = await ask(server.host, { path: '$.a' });
  expect(status).toMatch(/^(?:up|down)$/);
});

const nestedIn = (depth: number): Buffer => {
  const inner = nested(depth);
  const end = serialize({ ok: 1 }).subarray(4);
  const whole = Buffer.concat([Buffer.alloc(4), Buffer.from([3, 0x61, 0]), inner, end]);
  whole.writeInt32LE(whole.length, 0);
  return whole;
};

test.each([
  ['another signature', (final: string) => final.replace(/^v=(.)/, (_, first) => (first === 'A' ? 'v=B' : 'v=A'))],
  ['no signature', () => ''],
  ['an error', () => 'e=other-error'],
])('a server that ends the login with %s', async (_, alterFinal) => {
  await using server = await startMongo({ ...usual, alterFinal });
  expect(await ask(server.host, as('ann'))).toMatchObject({
    status: 'down',
    failure: { source: 'target', code: 'protocol', message: 'the server did not prove that it knows the password' },
  });
  expect(server.commands).not.toContain('ping');
});

test('a reply that is larger than what is read', async () => {
  await using server = await startMongo({
    ...usual,
    instead: { find: () => ({ ok: 1, text: 'x'.repeat(1_100_000) }) },
  });
  expect(await ask(server.host, { ...as('ann'), command: { find: 'orders' } })).toMatchObject({
    status: 'down',
    failure: { code: 'too_large', message: expect.stringMatching(/^the server announces a message of 110\d+ bytes/) },
  });
});

test('replies with any byte changed are up, or the fault of the target', async () => {
  const reply = opMsgReply(serialize({ ok: 1, cursor: { firstBatch: [{ a: 1 }], id: Long.ZERO, ns: 'shop.orders' } }), {
    to: 2,
  });
  let changed = reply;
  await using server = await startMongo({ instead: { find: () => changed } });
  await assert(
    asyncProperty(nat(reply.length - 1), nat(255), async (at, byte) => {
      changed = Buffer.from(reply);
      changed[at] = byte;
      const outcome = await ask(server.host, { command: { find: 'orders' }, path: '$.cursor', timeout: '100ms' });
      if (outcome.status !== 'up') expect(outcome).toMatchObject({ status: 'down', failure: { source: 'target' } });
    }),
    { numRuns: 150 },
  );
});

test('a server that wants to have the processor', async () => {
  await using server = await startMongo({ ...usual, iterations: 1_000_001 });
  expect(await ask(server.host, as('ann'))).toMatchObject({
    status: 'down',
    failure: { code: 'protocol', message: 'the server wants 1000001 iterations, expected 4096 to 1000000' },
  });
});

test('a server that answers byte by byte', async () => {
  const reply = opMsgReply(serialize({ ok: 1, n: 'x'.repeat(300) }), { to: 1 });
  await using server = await tcpServer((socket) => {
    socket.setNoDelay(true);
    void once(socket, 'data').then(async () => {
      for (const byte of reply) {
        socket.write(Buffer.from([byte]));
        await new Promise((resolve) => setImmediate(resolve));
      }
      socket.end();
    });
  });
  expect(await ask(server.host)).toMatchObject({
    status: 'down',
    detail: { role: 'other' },
    failure: { code: 'closed', message: 'connection closed while waiting for the answer' },
  });
});

test('a port that nothing listens on', async () => {
  expect(await ask(`127.0.0.1:${await closedPort()}`)).toMatchObject({ status: 'down', failure: { code: 'refused' } });
});
