import { brotliCompressSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { http } from '#checks/http/index.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { checkHttp, inShort } from '../../support/http-check.ts';
import { arrived, serveHttp, serveRaw, serveText, type TestServer } from '../../support/http-servers.ts';
import { closedPort } from '../../support/tcp-servers.ts';

const at = (server: TestServer) => `http://a.example:${server.port}`;
const ok = 'HTTP/1.1 200 OK\r\n';

test('a closed port is refused', async () => {
  const outcome = await checkHttp(`a.example:${await closedPort()}`);
  expect(inShort(outcome)).toBe('down refused');
  expect(outcome).toMatchObject({ address: '127.0.0.1', failure: { message: 'connection refused' } });
  expect(http.row.toRow(outcome)).toEqual([[0, outcome.seconds, 'connection refused', null, null]]);
});

// Each server says its texts as soon as it is asked, and ends the connection.
test.each([
  ['HTTP/0.9', ['<html>hello</html>'], 'protocol', 'the answer is not valid HTTP'],
  [
    'plain text instead of HTTP',
    ['220 mx.example ESMTP ready\r\n'],
    'protocol',
    'the answer is not valid HTTP: Expected HTTP/, RTSP/ or ICE/; it begins with "220 mx.example ESMTP ready"',
  ],
  ['TLS instead of HTTP', ['\x15\x03\x01\x00\x02\x02\x16'], 'protocol', 'the answer is not valid HTTP'],
  ['a header without a colon', [`${ok}nonsense\r\n\r\n`], 'protocol', 'the answer is not valid HTTP'],
  [
    'a length and chunks at once',
    [`${ok}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n`],
    'protocol',
    'the answer is not valid HTTP',
  ],
  [
    'chunks that are none',
    [`${ok}Transfer-Encoding: chunked\r\n\r\nzz\r\n`],
    'protocol',
    'the answer is not valid HTTP',
  ],
  ['nothing at all', [], 'closed', 'connection closed while waiting for the first byte'],
  ['half a status line', ['HTTP/1.1 2'], 'closed', 'connection closed while waiting for the headers'],
  ['half of the headers', [`${ok}Server: x`], 'closed', 'connection closed while waiting for the headers'],
  [
    'only an interim answer',
    ['HTTP/1.1 100 Continue\r\n\r\n'],
    'closed',
    'connection closed while waiting for the headers',
  ],
  [
    'half of the body',
    [`${ok}Content-Length: 10\r\n\r\nhello`],
    'closed',
    'connection closed while waiting for the body',
  ],
  [
    'half of the chunks',
    [`${ok}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n`],
    'closed',
    'connection closed while waiting for the body',
  ],
  [
    'a flood of headers',
    [ok, ...Array.from({ length: 200 }, (_, n) => `X-${n}: ${'x'.repeat(100)}\r\n`), '\r\n'],
    'too_large',
    'the headers of the answer are larger than 16384 bytes',
  ],
  [
    'one endless header',
    [`${ok}X: ${'x'.repeat(20_000)}`],
    'too_large',
    'the headers of the answer are larger than 16384 bytes',
  ],
])('%s', async (_, texts, code, message) => {
  await using server = await serveText(...texts);
  const outcome = await checkHttp(at(server));
  expect(inShort(outcome)).toBe(`down ${code}`);
  expect(outcome).toMatchObject({ failure: { message: expect.stringContaining(message) } });
  expect(outcome.seconds).toBeGreaterThan(0);
  const [[okay, seconds, text]] = http.row.toRow(outcome) as [[unknown, unknown, unknown]];
  expect([okay, seconds, text]).toEqual([0, outcome.seconds, outcome.status === 'down' && outcome.failure.message]);
  await server.drained();
});

// RFC 9112, section 5.2, has user agents take folded lines; interim answers say of the final one only that it is to come.
test.each([
  ['a header that is folded', [`${ok}X-A: one\r\n  two\r\n\tthree\r\nContent-Length: 2\r\n\r\nok`]],
  [
    'an interim answer that closes',
    ['HTTP/1.1 103 Early\r\nConnection: close\r\n\r\n', `${ok}Content-Length: 2\r\n\r\nok`],
  ],
  ['an interim answer of HTTP/1.0', ['HTTP/1.0 100 Continue\r\n\r\n', `${ok}Content-Length: 2\r\n\r\nok`]],
])('%s is HTTP', async (name, texts) => {
  await using server = await serveText(...texts);
  const headers: Record<string, string> = name.includes('folded') ? { 'x-a': 'one two three' } : {};
  const outcome = await checkHttp(at(server), { expect: { headers, body: { regex: '^ok$' } } });
  expect(outcome).toMatchObject({ status: 'up', detail: { status: 200, body_bytes: 2 } });
  await server.drained();
});

test('a server that says more than the length it announced is taken by its word', async () => {
  await using server = await serveText(`${ok}Content-Length: 5\r\n\r\nhello and more`);
  const outcome = await checkHttp(at(server), { expect: { body: { regex: '^hello$' } } });
  expect(outcome).toMatchObject({ status: 'up', detail: { body_bytes: 5 } });
});

test.each([
  ['the first byte', ''],
  ['the headers', ok],
  ['the body', `${ok}Content-Length: 10\r\n\r\nhello`],
])('a reset while waiting for %s', async (awaited, text) => {
  await using server = await serveRaw((socket) => {
    socket.once('data', () => {
      if (text === '') socket.resetAndDestroy();
      else socket.write(text, () => void arrived().then(() => socket.resetAndDestroy()));
    });
  });
  const outcome = await checkHttp(at(server));
  expect(outcome).toMatchObject({
    failure: { code: 'reset', message: `connection reset while waiting for ${awaited}` },
  });
});

test('a server that closes its half without a word and stays is closed', async () => {
  await using server = await serveRaw((socket) => void socket.end());
  expect(inShort(await checkHttp(at(server)))).toBe('down closed');
  await server.drained();
});

test('an answer whose server has closed its half in good order is whole', async () => {
  await using server = await serveRaw((socket) => {
    socket.once('data', () => socket.end(`${ok}Content-Length: 2\r\n\r\nok`));
  });
  expect(inShort(await checkHttp(at(server)))).toBe('up 200');
  await server.drained();
});

test.each([
  ['the first byte', ''],
  ['the headers', `${ok}Server: x`],
  ['the body', `${ok}Content-Length: 10\r\n\r\nhello`],
])('silence is a timeout that says it waited for %s', async (awaited, text) => {
  await using server = await serveRaw((socket) => {
    socket.once('data', () => {
      if (text !== '') socket.write(text);
      socket.emit('asked');
    });
  });
  const clock = new FakeClock();
  const asked = server.connection().then((socket) => new Promise((resolve) => socket.once('asked', resolve)));
  const checked = checkHttp(at(server), { timeout: '3s' }, { clock });
  await asked;
  await arrived();
  await clock.advance(3_000);
  const outcome = await checked;
  expect(outcome).toMatchObject({
    status: 'down',
    seconds: expect.closeTo(3, 3),
    failure: { source: 'target', code: 'timeout', message: `timeout after 3s while waiting for ${awaited}` },
  });
  expect(clock.pending).toBe(0);
  await server.drained();
});

function endless(chunk: Buffer | string, headers: Record<string, string> = {}) {
  return serveHttp((_, response) => {
    response.writeHead(200, headers);
    const more = () => {
      while (!response.destroyed && response.write(chunk));
    };
    response.on('drain', more);
    more();
  });
}

test('an endless body is read up to the cap, and is no failure where nobody looks at it', async () => {
  await using server = await endless('x'.repeat(10_000));
  const outcome = await checkHttp(at(server), { max_body: '64KiB' });
  expect(outcome).toMatchObject({ status: 'up', detail: { body_bytes: 65_536, body_complete: false } });
  await server.drained();
});

test.each([
  ['what is found within the cap is found', { contains: 'xxx' }, 'up 200'],
  ['what is not found may come later', { contains: 'y' }, 'down too_large'],
  ['what does not match may match later', { regex: 'y$' }, 'down too_large'],
  ['what must not be there may come later', { not_contains: 'y' }, 'down too_large'],
  ['what must not be there and is there', { not_contains: 'xxx' }, 'down body'],
  ['JSON is never whole', { json: { path: '$.a' } }, 'down too_large'],
])('a body past the cap: %s', async (_, body, expected) => {
  await using server = await endless('x'.repeat(10_000));
  const outcome = await checkHttp(at(server), { max_body: '64KiB', expect: { body } });
  expect(inShort(outcome)).toBe(expected);
  expect(outcome.detail).toMatchObject({ status: 200, body_complete: false });
  await server.drained();
});

test('a body of just the cap is whole', async () => {
  await using server = await serveHttp((_, response) => void response.end('x'.repeat(1_000)));
  const outcome = await checkHttp(at(server), { max_body: '1kB', expect: { body: { not_contains: 'y' } } });
  expect(outcome).toMatchObject({ status: 'up', detail: { body_bytes: 1_000, body_complete: true } });
});

test('a gzip bomb is read up to the cap', async () => {
  const bomb = gzipSync(Buffer.alloc(50_000_000, 'x'));
  await using server = await serveHttp((_, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
  });
  const outcome = await checkHttp(at(server), { expect: { body: { not_contains: 'y' } } });
  expect(outcome).toMatchObject({ failure: { code: 'too_large' }, detail: { body_bytes: 1_048_576 } });
  await server.drained();
});

test.each([
  ['what is no gzip', 'gzip', Buffer.from('plain'), 'the body is not valid gzip'],
  ['half a gzip', 'gzip', gzipSync('hello '.repeat(1_000)).subarray(0, 30), 'the body is not valid gzip'],
  ['a coding that nobody knows', 'rot13', Buffer.from('uryyb'), 'the body has the unknown content coding "rot13"'],
  ['a coding by the name of a property', 'constructor', Buffer.from('x'), 'unknown content coding "constructor"'],
])('%s is not HTTP as it should be', async (_, coding, bytes, message) => {
  await using server = await serveHttp((_request, response) => {
    response.writeHead(200, { 'content-encoding': coding }).end(bytes);
  });
  const outcome = await checkHttp(at(server), { expect: { body: { contains: 'x' } } });
  expect(inShort(outcome)).toBe('down protocol');
  expect(outcome).toMatchObject({ failure: { message: expect.stringContaining(message) } });
  expect(inShort(await checkHttp(at(server)))).toBe('up 200');
});

test.each([
  ['an empty name', '', Buffer.from('hello')],
  ['the name of none', 'none', Buffer.from('hello')],
  ['one beside the name of none', 'Identity, GZIP', gzipSync('hello')],
  ['two in the order in which they were applied', 'gzip, br', brotliCompressSync(gzipSync('hello'))],
])('a content coding: %s', async (_, coding, bytes) => {
  await using server = await serveHttp((_request, response) => {
    response.writeHead(200, { 'content-encoding': coding }).end(bytes);
  });
  const outcome = await checkHttp(at(server), { expect: { body: { regex: '^hello$' } } });
  expect(outcome).toMatchObject({ status: 'up', detail: { body_bytes: 5, body_complete: true } });
});

test('a content coding of too many layers is not HTTP as it should be', async () => {
  await using server = await serveHttp((_request, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip,'.repeat(6) }).end(gzipSync('hello'));
  });
  const outcome = await checkHttp(at(server), { expect: { body: { contains: 'x' } } });
  expect(outcome).toMatchObject({ failure: { code: 'protocol', message: 'the body has 6 content codings' } });
});

test.each(['gzip', 'deflate', 'br', 'zstd', 'br, gzip'])(
  'a body of no bytes is empty, whatever its coding: %s',
  async (coding) => {
    await using server = await serveHttp(({ url }, response) => {
      response.writeHead(url === '/204' ? 204 : 200, { 'content-encoding': coding }).end();
    });
    const body = { not_contains: 'x', regex: '^$' };
    for (const [path, method] of [
      ['/', 'GET'],
      ['/', 'HEAD'],
      ['/204', 'GET'],
    ] as const)
      expect(await checkHttp(`${at(server)}${path}`, { method, expect: { body } })).toMatchObject({
        status: 'up',
        detail: { body_bytes: 0, body_complete: true },
      });
  },
);

test('a body of no bytes that ends early is not empty', async () => {
  await using server = await serveText(`${ok}Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n`);
  expect(inShort(await checkHttp(at(server), { expect: { body: { not_contains: 'x' } } }))).toBe('down closed');
});

test('controls in what a server says do not get into the outcome', async () => {
  await using server = await serveText('HTTP/1.1 500 a\x85b\r\nServer: c\x9bd\r\nContent-Length: 0\r\n\r\n');
  const outcome = await checkHttp(at(server));
  expect(outcome).toMatchObject({ failure: { message: '500 a b' }, detail: { headers: { server: 'c d' } } });
});

test('a name that the gate does not resolve or refuses ends the check before anything is sent', async () => {
  const failure = { source: 'target', code: 'name_not_found', message: 'the name a.example does not exist' } as const;
  const gate = { pin: async () => ({ ok: false as const, failure, seconds: 0.07 }), verify: () => null };
  const outcome = await checkHttp('a.example', {}, { gate });
  expect(outcome).toEqual(
    expect.objectContaining({ status: 'down', seconds: 0.07, address: null, failure, phases: { resolve: 0.07 } }),
  );
  expect(http.row.toRow(outcome)).toEqual([[0, 0.07, failure.message, null, null]]);
});

test('a peer that the gate does not accept gets no request', async () => {
  let asked = false;
  await using server = await serveRaw((socket) => void socket.once('data', () => (asked = true)));
  const gate = {
    pin: async () => ({ ok: true as const, address: '127.0.0.1', family: 4 as const, addresses: [], seconds: 0 }),
    verify: () => ({ source: 'node', code: 'forbidden', message: 'the target is this node itself' }) as const,
  };
  expect(inShort(await checkHttp(at(server), {}, { gate }))).toBe('unknown node forbidden');
  await server.drained();
  expect(asked).toBe(false);
});
