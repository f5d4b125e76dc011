import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { http } from '#checks/http/index.ts';
import { userAgent } from '#kernel/version.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { checkHttp, inShort } from '../../support/http-check.ts';
import { arrived, serveHttp, serveRaw, serveText, type TestServer } from '../../support/http-servers.ts';

const at = (server: TestServer, path = '') => `http://a.example:${server.port}${path}`;

test('a good answer is up with its phases, which add up to the seconds without resolution', async () => {
  await using server = await serveHttp((_, response) => {
    response.writeHead(200, { 'content-type': 'text/plain', server: 'test', 'x-private': 'secret' }).end('hello');
  });
  const outcome = await checkHttp(at(server));
  expect(outcome).toMatchObject({
    status: 'up',
    address: '127.0.0.1',
    facts: {},
    detail: {
      status: 200,
      reason: 'OK',
      version: '1.1',
      hops: [],
      body_bytes: 5,
      body_complete: true,
      headers: { 'content-type': 'text/plain', server: 'test' },
      certificate: null,
      tls_protocol: null,
      failed_expectation: null,
    },
  });
  expect(outcome.detail?.headers).not.toHaveProperty('x-private');
  const { resolve, ...rest } = outcome.phases;
  expect(resolve).toBe(0.001);
  expect(Object.keys(rest)).toEqual(['connect', 'first_byte', 'transfer']);
  expect(outcome.seconds).toBeCloseTo(
    Object.values(rest).reduce((sum, seconds) => sum + seconds, 0),
    5,
  );
});

test('an address has no phase of resolution', async () => {
  await using server = await serveHttp((_, response) => void response.end());
  const outcome = await checkHttp(`127.0.0.1:${server.port}`);
  expect(outcome.phases).not.toHaveProperty('resolve');
  expect(outcome.seconds).toBeGreaterThan(0);
});

test.each([
  [200, 'up 200'],
  [204, 'up 204'],
  [301, 'up 301'],
  [304, 'up 304'],
  [404, 'down status'],
  [418, 'down status'],
  [500, 'down status'],
  [599, 'down status'],
])('without an expectation %i is %s', async (status, expected) => {
  await using server = await serveHttp((_, response) => void response.writeHead(status).end());
  const outcome = await checkHttp(at(server));
  expect(inShort(outcome)).toBe(expected);
  expect(outcome.detail?.status).toBe(status);
});

test('a failed status says its reason phrase, and the row has it with code and address', async () => {
  await using server = await serveHttp((_, response) => void response.writeHead(404).end());
  const outcome = await checkHttp(at(server));
  expect(outcome).toMatchObject({ failure: { message: '404 Not Found' }, detail: { failed_expectation: 'status' } });
  expect(http.row.toRow(outcome)).toEqual([[0, outcome.seconds, 'Not Found', '404', '127.0.0.1']]);
});

test.each([
  ['an empty one is filled in', 'HTTP/1.1 503 \r\nContent-Length: 0\r\n\r\n', 503, 'Service Unavailable'],
  ['none at all is filled in', 'HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n', 200, 'OK'],
  ['an unknown status stays without', 'HTTP/1.1 299 \r\nContent-Length: 0\r\n\r\n', 299, ''],
  ['its own words are kept', 'HTTP/1.1 302 Moved temporarily\r\nContent-Length: 0\r\n\r\n', 302, 'Moved temporarily'],
  ['controls are taken out', 'HTTP/1.1 200 A\tB\r\nContent-Length: 0\r\n\r\n', 200, 'A B'],
])('reason phrase: %s', async (_, text, status, reason) => {
  await using server = await serveText(text);
  const outcome = await checkHttp(at(server));
  expect(outcome.detail).toMatchObject({ status, reason });
});

test('interim answers are passed over, and switching protocols is an answer', async () => {
  const hints = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n';
  await using early = await serveText(hints, 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
  expect(inShort(await checkHttp(at(early), { expect: { body: { contains: 'ok' } } }))).toBe('up 200');
  await using switching = await serveText(
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
  );
  expect(inShort(await checkHttp(at(switching)))).toBe('up 101');
});

test('what came first of a body is still there when the rest has come, also that of others', async () => {
  const later = `${'b'.repeat(5_000)}.`;
  await using server = await serveHttp((_, response) => {
    response.writeHead(200, { 'content-length': 6 + later.length }).write('first:');
    void arrived().then(() => response.end(later));
  });
  const check = async () => checkHttp(at(server), { expect: { body: { contains: `first:${later}` } } });
  expect((await Promise.all(Array.from({ length: 8 }, check))).map(inShort)).toEqual(
    Array.from({ length: 8 }, () => 'up 200'),
  );
});

test('an HTTP/1.0 answer that ends with the connection is whole', async () => {
  await using server = await serveText('HTTP/1.0 200 OK\r\n\r\nold but whole');
  const outcome = await checkHttp(at(server), { expect: { body: { contains: 'whole' } } });
  expect(outcome).toMatchObject({ status: 'up', detail: { version: '1.0', body_bytes: 13, body_complete: true } });
});

interface Echo {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** A server that remembers its last request. */
async function serveEcho(): Promise<{ server: TestServer; last: () => Echo }> {
  let last: Echo | undefined;
  const server = await serveHttp((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      last = {
        method: request.method ?? '',
        url: request.url ?? '',
        headers: request.headers as Record<string, string>,
        body,
      };
      response.end('{}');
    });
  });
  return {
    server,
    last() {
      if (last === undefined) throw new Error('no request came');
      return last;
    },
  };
}

test('a plain request says who asks, and asks for nothing compressed and for the connection to end', async () => {
  const { server, last } = await serveEcho();
  await using _ = server;
  await checkHttp(at(server, '/a/ü?q=1#fragment'));
  expect(last()).toEqual({
    method: 'GET',
    url: '/a/%C3%BC?q=1',
    headers: {
      host: `a.example:${server.port}`,
      'user-agent': userAgent,
      accept: '*/*',
      'accept-encoding': 'identity',
      connection: 'close',
    },
    body: '',
  });
});

test('method, headers and body are sent as they are given', async () => {
  const { server, last } = await serveEcho();
  await using _ = server;
  await checkHttp(at(server), {
    method: 'POST',
    headers: { 'Content-Type': 'text/x', 'user-agent': 'me', Host: 'other.example', 'X-Empty': '' },
    body: 'grüße',
  });
  expect(last()).toMatchObject({ method: 'POST', url: '/', body: 'grüße' });
  expect(last().headers).toMatchObject({
    'content-type': 'text/x',
    'content-length': '7',
    'user-agent': 'me',
    host: 'other.example',
    'x-empty': '',
  });
});

test.each(['HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const)('%s is sent', async (method) => {
  const { server, last } = await serveEcho();
  await using _ = server;
  expect(inShort(await checkHttp(at(server), { method, max_body: '10B' }))).toBe('up 200');
  expect(last().method).toBe(method);
});

// IIS and others answer 411 to a POST that does not say how long its body is (RFC 9110, section 8.6).
test.each([
  ['POST', '0'],
  ['PUT', '0'],
  ['PATCH', '0'],
  ['GET', undefined],
  ['HEAD', undefined],
  ['DELETE', undefined],
  ['OPTIONS', undefined],
] as const)('a %s without a body says that its length is %s', async (method, length) => {
  const { server, last } = await serveEcho();
  await using _ = server;
  await checkHttp(at(server), { method });
  expect(last().headers['content-length']).toBe(length);
});

test.each([
  ['basic', { basic_auth: { username: 'jö', password: 'pass:word' } }, 'Basic asO2OnBhc3M6d29yZA=='],
  ['bearer', { bearer: 'token.of-mine' }, 'Bearer token.of-mine'],
  ['both', { bearer: 'token', basic_auth: { username: 'a', password: 'b' } }, 'Bearer token'],
  ['its own header', { bearer: 'token', headers: { Authorization: 'Custom x' } }, 'Custom x'],
])('credentials: %s', async (_, options, expected) => {
  const { server, last } = await serveEcho();
  await using __ = server;
  await checkHttp(at(server), options);
  expect(last().headers['authorization']).toBe(expected);
});

test('secrets never appear in an outcome, even where the server echoes them', async () => {
  await using server = await serveHttp((request, response) => {
    const sent = request.headers.authorization ?? '';
    const key = String(request.headers['x-api-key']);
    response.writeHead(500, `no ${sent}`, { server: sent, location: `/?key=${key}` });
    response.end(JSON.stringify({ echo: sent.repeat(5) }));
  });
  const secrets = { basic_auth: { username: 'me', password: 'hunter2222' }, headers: { 'X-Api-Key': 'k-123456' } };
  const encoded = Buffer.from('me:hunter2222').toString('base64');
  for (const outcome of [
    await checkHttp(at(server), secrets),
    await checkHttp(at(server), {
      ...secrets,
      expect: { status: 500, body: { json: { path: '$.echo', equals: 'x' } } },
    }),
    await checkHttp(at(server), { ...secrets, expect: { status: 500, headers: { server: 'x' } } }),
  ]) {
    const text = JSON.stringify(outcome);
    expect(text).toContain('***');
    for (const secret of ['hunter2', 'k-1234', encoded.slice(0, 8)]) expect(text).not.toContain(secret);
  }
});

const json = JSON.stringify({ status: 'degraded', parts: [{ ok: true }, { ok: false }], none: null, load: 0.75 });

test.each([
  ['a status in a range', { status: '200-299' }, 'up 200', null],
  ['a status in a list', { status: [204, 200] }, 'up 200', null],
  ['another status', { status: [204, '301-308'] }, 'down status', '200 OK, expected 204 or 301-308'],
  ['a header', { headers: { 'X-One': 'yes' } }, 'up 200', null],
  ['one of several headers', { headers: { 'set-cookie': 'b=2' } }, 'up 200', null],
  ['one of several equal headers', { headers: { 'x-part': 'two' } }, 'up 200', null],
  ['all of several equal headers', { headers: { 'x-part': 'one, two' } }, 'up 200', null],
  ['one of several equal headers by pattern', { headers: { 'x-part': { regex: '^tw' } } }, 'up 200', null],
  [
    'another one of several',
    { headers: { 'x-part': 'three' } },
    'down header',
    'header "x-part" is "one, two", expected "three"',
  ],
  ['a header by pattern', { headers: { 'x-one': { regex: '^y' } } }, 'up 200', null],
  ['another header', { headers: { 'x-one': 'no' } }, 'down header', 'header "x-one" is "yes", expected "no"'],
  [
    'a header that does not match',
    { headers: { 'x-one': { regex: '^n' } } },
    'down header',
    'header "x-one" is "yes", expected it to match ^n',
  ],
  ['a missing header', { headers: { 'x-two': 'yes' } }, 'down header', 'header "x-two" is missing'],
  ['text', { body: { contains: 'degraded' } }, 'up 200', null],
  ['missing text', { body: { contains: 'fine' } }, 'down body', 'the body does not contain "fine"'],
  ['unwanted text', { body: { not_contains: 'degraded' } }, 'down body', 'the body contains "degraded"'],
  ['no unwanted text', { body: { not_contains: 'fine' } }, 'up 200', null],
  ['a pattern', { body: { regex: '"status":"\\w+"' } }, 'up 200', null],
  ['a pattern in other letters', { body: { regex: '(?i:DEGRADED)' } }, 'up 200', null],
  ['no match', { body: { regex: '^degraded' } }, 'down body', 'the body does not match ^degraded'],
  ['a JSON value', { body: { json: { path: '$.status', equals: 'degraded' } } }, 'up 200', null],
  ['one of several JSON values', { body: { json: { path: '$.parts[*].ok', equals: true } } }, 'up 200', null],
  ['null in JSON', { body: { json: { path: '$.none', equals: null } } }, 'up 200', null],
  ['a JSON value that is there', { body: { json: { path: '$.none' } } }, 'up 200', null],
  [
    'a JSON value that must not be there',
    { body: { json: { path: '$.status', exists: false } } },
    'down body',
    '$.status is there: "degraded"',
  ],
  [
    'another JSON value',
    { body: { json: { path: '$.status', equals: 'ok' } } },
    'down body',
    '$.status is "degraded", expected "ok"',
  ],
  ['a missing JSON value', { body: { json: { path: '$.gone' } } }, 'down body', '$.gone is not in the body'],
  ['several texts', { body: { contains: ['degraded', 'parts'] } }, 'up 200', null],
  [
    'one of several texts that is missing',
    { body: { contains: ['degraded', 'fine'] } },
    'down body',
    'the body does not contain "fine"',
  ],
  [
    'one of several texts that must not be',
    { body: { not_contains: ['fine', 'parts'] } },
    'down body',
    'the body contains "parts"',
  ],
  ['several patterns', { body: { regex: ['degraded', '^.fine'] } }, 'down body', 'the body does not match ^.fine'],
  ['no pattern', { body: { not_regex: 'd[a-e]graded' } }, 'down body', 'the body matches d[a-e]graded'],
  ['no such pattern', { body: { not_regex: ['fine', 'well'] } }, 'up 200', null],
  [
    'several JSON values',
    { body: { json: [{ path: '$.status' }, { path: '$.parts[1].ok', equals: true }] } },
    'down body',
    '$.parts[1].ok is false, expected true',
  ],
  [
    'a JSON value not to be',
    { body: { json: { path: '$.status', not: 'degraded' } } },
    'down body',
    '$.status is "degraded"',
  ],
  ['another JSON value to be', { body: { json: { path: '$.status', not: 'down' } } }, 'up 200', null],
  ['a JSON value by pattern', { body: { json: { path: '$.status', regex: '^de' } } }, 'up 200', null],
  [
    'another by pattern',
    { body: { json: { path: '$.status', regex: '^ok' } } },
    'down body',
    '$.status is "degraded", expected it to match ^ok',
  ],
  ['a number in bounds', { body: { json: { path: '$.load', min: 0.5, max: 1 } } }, 'up 200', null],
  [
    'a number out of bounds',
    { body: { json: { path: '$.load', max: 0.5 } } },
    'down body',
    '$.load is 0.75, expected at most 0.5',
  ],
  [
    'a number where a text is',
    { body: { json: { path: '$.status', min: 1 } } },
    'down body',
    '$.status is "degraded", expected at least 1',
  ],
  ['no header', { headers: { 'x-two': { absent: true as const } } }, 'up 200', null],
  [
    'a header that must not be',
    { headers: { 'x-one': { absent: true as const } } },
    'down header',
    'header "x-one" is "yes", expected none',
  ],
  [
    'a header with several conditions',
    { headers: { 'x-one': [{ regex: '^y' }, { not_regex: 's$' }] } },
    'down header',
    'header "x-one" is "yes", expected it not to match s$',
  ],
  ['time enough', { latency: '30s' }, 'up 200', null],
])('expects %s', async (_, wishes, expected, message) => {
  await using server = await serveHttp((_request, response) => {
    response.writeHead(200, { 'x-one': 'yes', 'set-cookie': ['a=1', 'b=2'], 'x-part': ['one', 'two'] }).end(json);
  });
  const outcome = await checkHttp(at(server), { expect: wishes });
  expect(inShort(outcome)).toBe(expected);
  expect(outcome.status === 'up' ? null : outcome.failure.message).toBe(message);
});

test('a good status that was not expected to be good', async () => {
  await using server = await serveHttp((_, response) => void response.writeHead(404).end());
  expect(inShort(await checkHttp(at(server), { expect: { status: 404 } }))).toBe('up 404');
});

test('a body that is no JSON fails a JSON expectation', async () => {
  await using server = await serveHttp((_, response) => void response.end('<html>'));
  const outcome = await checkHttp(at(server), { expect: { body: { json: { path: '$.a' } } } });
  expect(outcome).toMatchObject({ status: 'down', failure: { code: 'body', message: 'the body is not JSON' } });
});

test('a failed expectation on a good status is ok 0 with the status code and what failed', async () => {
  await using server = await serveHttp((_, response) => void response.end('hello'));
  const outcome = await checkHttp(at(server), { expect: { body: { contains: 'bye' } } });
  expect(http.row.toRow(outcome)).toEqual([
    [0, outcome.seconds, 'the body does not contain "bye"', '200', '127.0.0.1'],
  ]);
});

test('a slow answer is down where a latency is expected', async () => {
  const clock = new FakeClock();
  await using server = await serveHttp((_, response) => void clock.advance(20).then(() => response.end()));
  const outcome = await checkHttp(at(server), { expect: { latency: '5ms' } }, { clock });
  expect(inShort(outcome)).toBe('down slow');
  expect(outcome.phases.first_byte).toBe(0.02);
  expect(outcome.detail?.failed_expectation).toBe('latency');
});

test.each([
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
])('a body in %s is decompressed where an expectation looks at it', async (coding, compress) => {
  const text = 'hello '.repeat(1_000);
  await using server = await serveHttp((_, response) => {
    response.writeHead(200, { 'content-encoding': coding }).end(compress(text));
  });
  const looked = await checkHttp(at(server), { expect: { body: { contains: 'hello hello' } } });
  expect(looked).toMatchObject({ status: 'up', detail: { body_bytes: text.length } });
  const counted = await checkHttp(at(server));
  expect(counted).toMatchObject({ status: 'up', detail: { body_bytes: compress(text).length } });
});

test('a body in another charset is read as such', async () => {
  await using server = await serveHttp((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=iso-8859-1' }).end(Buffer.from('gr\xfcn', 'latin1'));
  });
  expect(inShort(await checkHttp(at(server), { expect: { body: { contains: 'grün' } } }))).toBe('up 200');
});

test('the connection is closed when the outcome is there, whatever the server would rather do', async () => {
  const opened: Socket[] = [];
  const onSocket = (message: unknown) => opened.push((message as { socket: Socket }).socket);
  await using server = await serveRaw((socket) => {
    socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx'));
  });
  subscribe('net.client.socket', onSocket);
  try {
    expect(inShort(await checkHttp(at(server)))).toBe('up 200');
  } finally {
    unsubscribe('net.client.socket', onSocket);
  }
  expect(opened.map((socket) => socket.closed)).toEqual([true]);
  await server.drained();
});
