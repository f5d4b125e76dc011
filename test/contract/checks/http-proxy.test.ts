import { connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { issue, issueAuthority } from '../../support/certificates.ts';
import { checkHttp, forbidden, inShort, loopbackGate } from '../../support/http-check.ts';
import { arrived, serveHttp, serveHttps, serveHttp2, serveRaw, serveText } from '../../support/http-servers.ts';
import { closedPort } from '../../support/tcp-servers.ts';
import { failure } from '#checks/outcome.ts';

const authority = await issueAuthority();
const certificate = await issue({ names: ['shop.example'], ca: authority });
const tls = { ca: authority.cert };
const credentials = `Basic ${Buffer.from('wp:geheim').toString('base64')}`;

/** A proxy that finds every name at 127.0.0.1, and tells the heads of the requests that it got. */
async function serveProxy(answer = 'HTTP/1.1 200 Connection established\r\n\r\n') {
  const heads: string[] = [];
  const server = await serveRaw((socket) => {
    socket.once('data', (bytes: Buffer) => {
      const head = bytes.toString('latin1');
      heads.push(head);
      const [, port] = /^(?:CONNECT |GET http:\/\/)[^:/ ]+:(\d+)/.exec(head) ?? [];
      if (!/ 200 /.test(answer) || port === undefined) return void socket.end(answer);
      const behind = connect(Number(port), '127.0.0.1', () => {
        if (head.startsWith('CONNECT')) socket.write(answer);
        else behind.write(bytes);
        join(socket, behind);
      });
    });
  });
  return { heads, server, url: `http://127.0.0.1:${server.port}`, [Symbol.asyncDispose]: server[Symbol.asyncDispose] };
}

function join(one: Socket, other: Socket): void {
  one.pipe(other);
  other.pipe(one);
  one.on('error', () => other.destroy());
  other.on('error', () => one.destroy());
  one.on('close', () => other.destroy());
}

test('a target without encryption is asked for by its whole address, without its name being resolved here', async () => {
  await using shop = await serveHttp((request, response) => void response.end(request.headers['host']));
  await using proxy = await serveProxy();
  const gate = loopbackGate({ 'shop.example': forbidden });
  const outcome = await checkHttp(
    `http://shop.example:${shop.port}/a?b=c`,
    { proxy: { url: proxy.url, username: 'wp', password: 'geheim' }, expect: { body: { contains: 'shop.example' } } },
    { gate },
  );
  expect(outcome).toMatchObject({ status: 'up', address: '127.0.0.1', detail: { status: 200 } });
  expect(outcome.phases).not.toHaveProperty('proxy');
  expect(proxy.heads[0]).toContain(`GET http://shop.example:${shop.port}/a?b=c HTTP/1.1\r\n`);
  expect(proxy.heads[0]).toContain(`Proxy-Authorization: ${credentials}\r\n`);
});

test('for https the proxy makes a tunnel, whose time is a phase of its own', async () => {
  await using shop = await serveHttps(certificate, (request, response) => {
    response.end(JSON.stringify(request.headers));
  });
  await using proxy = await serveProxy();
  const outcome = await checkHttp(`https://shop.example:${shop.port}`, {
    proxy: { url: proxy.url, username: 'wp', password: 'geheim' },
    tls,
    expect: { body: { not_contains: 'roxy-' } },
  });
  expect(outcome).toMatchObject({ status: 'up', detail: { certificate: { names: ['shop.example'] } } });
  expect(Object.keys(outcome.phases)).toEqual(['connect', 'proxy', 'tls', 'first_byte', 'transfer']);
  const [head] = proxy.heads;
  expect(head).toBe(
    `CONNECT shop.example:${shop.port} HTTP/1.1\r\nHost: shop.example:${shop.port}\r\nproxy-authorization: ${credentials}\r\n\r\n`,
  );
  await arrived();
  expect(proxy.server.open.size).toBe(0);
});

test('HTTP/2 goes through a tunnel, and a redirect through another', async () => {
  await using shop = await serveHttp2(certificate, (request, response) => {
    if (request.url !== '/') return void response.end();
    response.writeHead(302, { location: '/there' }).end();
  });
  await using proxy = await serveProxy();
  const options = { proxy: { url: proxy.url }, tls, redirects: 1 };
  expect(await checkHttp(`https://shop.example:${shop.port}`, options)).toMatchObject({
    status: 'up',
    detail: { version: '2', hops: [{ status: 302 }] },
  });
  expect(proxy.heads).toHaveLength(2);
});

test.each([
  ['407 Proxy Authentication Required', 'unknown third_party status', 'user name and password'],
  ['403 Forbidden', 'unknown third_party status', 'it refuses (403 Forbidden)'],
  [
    '503 Service Unavailable',
    'down unreachable',
    'the proxy could not connect to shop.example: 503 Service Unavailable',
  ],
])('a proxy that answers %s: %s', async (status, short, words) => {
  await using proxy = await serveText(`HTTP/1.1 ${status}\r\n\r\n`);
  const outcome = await checkHttp('https://shop.example', { proxy: { url: `http://127.0.0.1:${proxy.port}` }, tls });
  expect(inShort(outcome)).toBe(short);
  expect(outcome.status === 'up' ? '' : outcome.failure.message).toContain(words);
});

test('a proxy that wants to know who asks for a target without encryption is at fault', async () => {
  await using proxy = await serveText('HTTP/1.1 407 Who are you\r\nContent-Length: 0\r\n\r\n');
  const outcome = await checkHttp('http://shop.example', { proxy: { url: `http://127.0.0.1:${proxy.port}` } });
  expect(inShort(outcome)).toBe('unknown third_party status');
});

test.each([
  ['says nothing of HTTP', 'SSH-2.0-x\r\n\r\n', 'unknown third_party protocol'],
  ['hangs up', 'HTTP/1.1 200', 'unknown third_party closed'],
  ['never ends its headers', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(20_000)}`, 'unknown third_party too_large'],
])('a proxy that %s is at fault', async (_, text, short) => {
  await using proxy = await serveText(text);
  const outcome = await checkHttp('https://shop.example', { proxy: { url: `http://127.0.0.1:${proxy.port}` } });
  expect(inShort(outcome)).toBe(short);
});

test('a proxy that is not there, has no name, or may not be reached, tells nothing of the target', async () => {
  const port = await closedPort();
  const outcome = await checkHttp('https://shop.example', { proxy: { url: `http://127.0.0.1:${port}` } });
  expect(outcome).toMatchObject({
    status: 'unknown',
    failure: { source: 'third_party', code: 'refused', message: `the proxy 127.0.0.1:${port}: connection refused` },
  });
  const nowhere = { ok: false as const, failure: failure('target', 'name_not_found', 'no such name'), seconds: 0 };
  const gate = loopbackGate({ 'gone.example': nowhere, 'inside.example': forbidden });
  const through = async (url: string) => inShort(await checkHttp('http://shop.example', { proxy: { url } }, { gate }));
  expect(await through('http://gone.example:3128')).toBe('unknown third_party name_not_found');
  expect(await through('http://inside.example:3128')).toBe('unknown node forbidden');
});

test('a tunnel that does not come in time is a timeout, and an abort ends it', async () => {
  await using proxy = await serveRaw(() => {});
  const options = { proxy: { url: `http://127.0.0.1:${proxy.port}` }, timeout: '300ms' };
  expect(await checkHttp('https://shop.example', options)).toMatchObject({
    status: 'down',
    failure: { code: 'timeout', message: 'timeout after 300ms while waiting for the tunnel of the proxy' },
  });
  const ended = new AbortController();
  const waiting = proxy.connection();
  const checking = checkHttp('https://shop.example', { ...options, timeout: '60s' }, { signal: ended.signal });
  await waiting;
  ended.abort(new Error('enough'));
  await expect(checking).rejects.toThrow('enough');
  await proxy.drained();
});

test('the password of a proxy is told to nobody, though the target repeats it', async () => {
  await using proxy = await serveText('HTTP/1.1 403 geheim123\r\nServer: geheim123\r\n\r\n');
  const url = `http://127.0.0.1:${proxy.port}`;
  const outcome = await checkHttp('http://shop.example', { proxy: { url, username: 'wp', password: 'geheim123' } });
  expect(JSON.stringify(outcome)).not.toContain('geheim123');
  const tunnelled = await checkHttp('https://shop.example', { proxy: { url, username: 'wp', password: 'geheim123' } });
  expect(JSON.stringify(tunnelled)).not.toContain('geheim123');
});
