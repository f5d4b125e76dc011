import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { createHttp } from '#client/http.ts';
import { systemClock } from '#kernel/clock.ts';
import { Secret } from '#kernel/secret.ts';
import { userAgent } from '#kernel/version.ts';
import { type FakeService, fakeService, sendJson } from '../../support/fake-service.ts';
import { closedPort } from '../../support/tcp-servers.ts';

async function get(url: string, { timeoutMs = 5_000, signal = new AbortController().signal, path = '/x' } = {}) {
  const http = createHttp({ url, token: new Secret('t0ken'), clock: systemClock });
  try {
    return await http.get({
      path,
      query: [
        ['node', 'a b'],
        ['node', 'c'],
      ],
      timeoutMs,
      signal,
    });
  } finally {
    http.close();
  }
}

async function getFrom(answer: Parameters<typeof fakeService>[0], options?: Parameters<typeof get>[1]) {
  await using service = await fakeService(answer);
  return await get(service.url, options);
}

test('a call is one GET that asks for JSON, names itself and brings the token', async () => {
  await using service = await fakeService((_, response) => sendJson(response, { ok: 1 }));
  expect(await get(service.url)).toEqual({ kind: 'json', body: { ok: 1 }, pauseMs: null });
  expect(service.seen).toHaveLength(1);
  expect(service.seen[0]).toMatchObject({
    url: { pathname: '/x', search: '?node=a+b&node=c' },
    headers: { accept: 'application/json', authorization: 'Bearer t0ken', 'user-agent': userAgent },
  });
});

test('an answer that takes too long is a service that cannot be reached', async () => {
  const reply = await getFrom(() => {}, { timeoutMs: 50 });
  expect(reply).toMatchObject({
    kind: 'trouble',
    failure: {
      source: 'service',
      code: 'service_unreachable',
      message: 'the check service cannot be reached: no answer within 50ms',
    },
  });
});

test('an answer whose end does not come takes too long as well', async () => {
  const reply = await getFrom((_, response) => void response.writeHead(200).write('{"a":'), { timeoutMs: 100 });
  expect(reply).toMatchObject({ failure: { code: 'service_unreachable' } });
});

test.each<{ name: string; answer: Parameters<typeof fakeService>[0]; code: string; message: RegExp }>([
  {
    name: 'an endless body',
    answer: (_, response) => {
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536, ' ')));
        response.once('drain', more);
      };
      more();
    },
    code: 'service_answer',
    message: /more than 1048576 bytes/,
  },
  {
    name: 'a small body that decompresses to a large one',
    answer: (_, response) =>
      void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(50_000_000, ' '))),
    code: 'service_answer',
    message: /more than 1048576 bytes/,
  },
  {
    name: 'a broken encoding',
    answer: (_, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end('no gzip at all'),
    code: 'service_unreachable',
    message: /header|decompress/i,
  },
  {
    name: 'a connection that is closed at once',
    answer: (_, response) => void response.socket?.destroy(),
    code: 'service_unreachable',
    message: /hang up|reset/,
  },
  {
    name: 'a body that breaks off',
    answer: (_, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('{');
      setImmediate(() => response.socket?.destroy());
    },
    code: 'service_unreachable',
    message: /aborted|reset|closed|content-length/i,
  },
  {
    name: 'a redirect in a circle',
    answer: (_, response) => void response.writeHead(302, { location: '/x' }).end(),
    code: 'service_unreachable',
    message: /circle/,
  },
])('$name is trouble of the service', async ({ answer, code, message }) => {
  const reply = await getFrom(answer);
  expect(reply).toMatchObject({
    kind: 'trouble',
    gone: false,
    failure: { source: 'service', code, message: expect.stringMatching(message) },
  });
});

test('a redirect to another host is not followed, and the token stays here', async () => {
  await using other = await fakeService((_, response) => sendJson(response, { ok: 1 }));
  const reply = await getFrom((_, response) => void response.writeHead(302, { location: `${other.url}/x` }).end());
  expect(reply).toMatchObject({
    failure: { code: 'service_answer', message: expect.stringMatching(/redirects elsewhere/) },
  });
  expect(other.seen).toEqual([]);
});

test('a redirect on the same host is followed', async () => {
  const reply = await getFrom(({ url }, response) => {
    if (url.pathname === '/x') response.writeHead(301, { location: '/y' }).end();
    else sendJson(response, { path: url.pathname });
  });
  expect(reply).toMatchObject({ kind: 'json', body: { path: '/y' } });
});

test('a port that nobody listens on is a service that cannot be reached', async () => {
  expect(await get(`http://127.0.0.1:${await closedPort()}`)).toMatchObject({
    failure: { code: 'service_unreachable', message: 'the check service cannot be reached: connection refused' },
  });
});

test('a call ends with its signal', async () => {
  const controller = new AbortController();
  const answer = () => controller.abort(new Error('enough'));
  await expect(getFrom(answer, { signal: controller.signal })).rejects.toThrow('enough');
});

test('no connection is left after closing', async () => {
  let service: FakeService;
  await using _ = (service = await fakeService((__, response) => sendJson(response, {})));
  const http = createHttp({ url: service.url, token: null, clock: systemClock });
  const call = { path: '/', query: [], timeoutMs: 1_000, signal: new AbortController().signal };
  await http.get(call);
  await http.get(call);
  http.close();
  expect(service.seen.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined]);
});
