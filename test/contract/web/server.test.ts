import { once } from 'node:events';
import { Agent, get, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import type { FastifyInstance } from 'fastify';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { WatchpostError } from '#kernel/errors.ts';
import { readRequest } from '#web/request-input.ts';
import type { WebOptions, WebServer } from '#web/server.ts';
import { serveWeb } from '../../support/web.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { metricsInPieces, metricsOf, noMetrics } from '../../support/no-metrics.ts';

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

async function ask(
  server: Pick<WebServer, 'addr'>,
  path: string,
  method = 'GET',
  body = '',
  more: Record<string, string> = {},
): Promise<Answer> {
  const { port } = server.addr();
  const headers = { ...more, ...(body === '' ? {} : { 'content-type': 'application/json' }) };
  const request = httpRequest({ host: '127.0.0.1', port, path, method, headers, agent: false }).end(body);
  const [response] = await once(request, 'response');
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

/** Sends bytes as they are, and gives everything that comes back until the server closes the connection. */
async function raw(server: WebServer, bytes: string): Promise<string> {
  const socket = connect(server.addr().port, '127.0.0.1');
  socket.write(bytes);
  return text(socket);
}

test('serves the metrics with the content type of their format', async () => {
  await using server = await serveWeb();
  const answer = await ask(server, '/metrics');
  expect(answer).toMatchObject({ status: 200, body: 'up 1\n' });
  expect(answer.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
});

test('answers HEAD with the headers alone', async () => {
  await using server = await serveWeb();
  const answer = await ask(server, '/metrics', 'HEAD');
  expect(answer).toMatchObject({ status: 200, body: '' });
  expect(answer.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
  // How long it would be is not known before it is written.
  expect(answer.headers).not.toHaveProperty('content-length');
});

test('every answer carries the security headers', async () => {
  await using server = await serveWeb();
  for (const path of ['/', '/metrics', '/healthz', '/nothing']) {
    expect((await ask(server, path)).headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    });
  }
});

const admin = { host: '127.0.0.1', port: 0 };
const operators = [async (app: FastifyInstance) => void app.get('/-/thing', async () => ({ ok: 1 }))];
const others = [async (app: FastifyInstance) => void app.get('/nodes', async () => ({ nodes: {} }))];
const atAdmin = (server: WebServer) => ({ ...server, addr: () => server.adminAddr() });

test('what is for operators can have a listener of its own', async () => {
  await using server = await serveWeb({ admin, plugins: others, adminPlugins: operators });
  const statuses = async (at: WebServer) => {
    const found: (number | undefined)[] = [];
    for (const path of ['/metrics', '/healthz', '/readyz', '/-/thing', '/nodes'])
      found.push((await ask(at, path)).status);
    return found;
  };
  expect(server.adminAddr()).not.toEqual(server.addr());
  expect(await statuses(atAdmin(server))).toEqual([200, 200, 200, 200, 404]);
  // Programs on this machine, such as the health check of a container, still hear how it is.
  expect(await statuses(server)).toEqual([404, 200, 200, 404, 200]);
  const { status } = await ask(server, '/healthz', 'GET', '', { 'x-forwarded-for': '198.51.100.1' });
  expect(status).toBe(403);
  expect(await ask(server, '/')).not.toHaveProperty('body', expect.stringContaining('/metrics'));
});

test('without one everything is on the one there is', async () => {
  await using server = await serveWeb({ plugins: others, adminPlugins: operators });
  expect(server.adminAddr()).toEqual(server.addr());
  for (const path of ['/metrics', '/healthz', '/-/thing', '/nodes']) expect((await ask(server, path)).status).toBe(200);
});

test('metrics can be kept from strangers, who hear of the way out', async () => {
  await using server = await serveWeb({ metricsFor: 'this machine' });
  expect((await ask(server, '/metrics')).status).toBe(200);
  for (const headers of [{ 'x-forwarded-for': '198.51.100.1' }, { host: 'status.example.com' }]) {
    const refused = await ask(server, '/metrics', 'GET', '', headers);
    expect(refused.status).toBe(403);
    expect(JSON.parse(refused.body)).toMatchObject({
      error: 'forbidden',
      message: expect.stringContaining('http.admin'),
    });
    expect((await ask(server, '/healthz', 'GET', '', headers)).status).toBe(200);
  }
});

test('where one of two listeners cannot listen, neither does', async () => {
  await using taken = await serveWeb();
  const failed = serveWeb({ admin: taken.addr() });
  await expect(failed).rejects.toThrow(/choose another port in http\.admin/);
  const main = serveWeb({ admin, listen: taken.addr() });
  await expect(main).rejects.toThrow(/choose another port in http\.listen/);
});

test('answers in another way from one moment on, over connections that are open too; what runs ends as it began', async () => {
  const { promise: goOn, resolve } = Promise.withResolvers<string>();
  const { promise: asked, resolve: hear } = Promise.withResolvers<void>();
  const before = async (app: FastifyInstance) => {
    app.get('/thing', async () => ({ is: 'old' }));
    app.get('/slow', async () => (hear(), { is: await goOn }));
  };
  const after = async (app: FastifyInstance) => void app.get('/thing', async () => ({ is: 'new' }));
  await using server = await serveWeb({ plugins: [before] });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const over = async (path: string) => {
    const request = httpRequest({ host: '127.0.0.1', port: server.addr().port, path, agent }).end();
    const [response] = await once(request, 'response');
    return { reused: request.reusedSocket, body: await text(response) };
  };
  expect(await over('/thing')).toEqual({ reused: false, body: '{"is":"old"}' });
  const slow = ask(server, '/slow');
  await asked;
  const putIntoForce = await server.prepare({ plugins: [after] });
  expect((await ask(server, '/thing')).body).toBe('{"is":"old"}');
  putIntoForce();
  expect(await over('/thing')).toEqual({ reused: true, body: '{"is":"new"}' });
  expect((await ask(server, '/slow')).status).toBe(404);
  resolve('old');
  expect(await slow).toMatchObject({ status: 200, body: '{"is":"old"}' });
  agent.destroy();
});

test('what cannot be made ready changes nothing', async () => {
  await using server = await serveWeb({ plugins: others });
  const broken = [async () => Promise.reject(new Error('no'))];
  await expect(server.prepare({ plugins: broken })).rejects.toThrow('no');
  expect((await ask(server, '/nodes')).status).toBe(200);
});

test('is healthy while every part makes progress', async () => {
  const pulses = [{ name: 'scheduler', ageMs: () => 1_500, limitMs: 30_000 }];
  await using server = await serveWeb({ health: { pulses, notReady: () => [] } });
  const answer = await ask(server, '/healthz');
  expect(answer.status).toBe(200);
  expect(JSON.parse(answer.body)).toEqual({
    ok: 1,
    stuck: [],
    parts: { scheduler: { ok: true, age_seconds: 1.5, limit_seconds: 30 } },
  });
});

test('is not healthy while a part is stuck or cannot tell, and names it', async () => {
  const broken = () => {
    throw new Error('database is closed');
  };
  const pulses = [
    { name: 'scheduler', ageMs: () => 0, limitMs: 30_000 },
    { name: 'outbox', ageMs: () => 60_000, limitMs: 60_000 },
    { name: 'store', ageMs: broken, limitMs: 60_000 },
  ];
  await using server = await serveWeb({ health: { pulses, notReady: () => [] } });
  const answer = await ask(server, '/healthz');
  expect(answer.status).toBe(503);
  expect(JSON.parse(answer.body)).toMatchObject({
    ok: 0,
    error: 'stuck',
    message: 'no progress: outbox, store',
    stuck: ['outbox', 'store'],
    parts: { scheduler: { ok: true }, outbox: { ok: false, age_seconds: 60 }, store: { ok: false, age_seconds: null } },
  });
});

test('is ready once nothing speaks against it', async () => {
  const reasons = ['the store is being migrated'];
  await using server = await serveWeb({ health: { pulses: [], notReady: () => reasons } });
  const before = await ask(server, '/readyz');
  expect(before.status).toBe(503);
  expect(JSON.parse(before.body)).toMatchObject({ ok: 0, error: 'not_ready', reasons });
  reasons.pop();
  expect(await ask(server, '/readyz')).toMatchObject({ status: 200, body: '{"ok":1}' });
});

test('answers an unknown path with a JSON body that does not repeat the query', async () => {
  await using server = await serveWeb();
  const answer = await ask(server, '/nothing?token=secret');
  expect(answer.status).toBe(404);
  expect(JSON.parse(answer.body)).toEqual({ ok: 0, error: 'not_found', message: 'there is no GET /nothing here' });
});

test.each([
  { name: 'a path that cannot be decoded', path: '/%zz', method: 'GET', body: '', status: 400, error: 'bad_request' },
  { name: 'a body that is no JSON', path: '/echo', method: 'POST', body: '{', status: 400, error: 'bad_request' },
  {
    name: 'a body above the limit',
    path: '/echo',
    method: 'POST',
    body: ' '.repeat(70_000),
    status: 413,
    error: 'too_large',
  },
  {
    name: 'another method of a path that is there',
    path: '/metrics',
    method: 'POST',
    body: '{}',
    status: 405,
    error: 'method_not_allowed',
  },
  {
    name: 'a method that has no routes',
    path: '/metrics',
    method: 'TRACE',
    body: '',
    status: 405,
    error: 'method_not_allowed',
  },
  {
    name: 'a body that nobody reads',
    path: '/echo',
    method: 'PUT',
    body: '{',
    status: 405,
    error: 'method_not_allowed',
  },
])('answers $name with a JSON body', async ({ path, method, body, status, error }) => {
  await using server = await serveWeb({ plugins: [async (app) => void app.post('/echo', async () => ({}))] });
  const answer = await ask(server, path, method, body);
  expect(answer.status).toBe(status);
  expect(JSON.parse(answer.body)).toMatchObject({ ok: 0, error });
});

test.each([
  { path: '/echo', body: ' '.repeat(70_000), type: 'application/json', says: 'the body is larger than 64 KiB' },
  { path: '/echo', body: '{', type: 'application/json', says: 'the body is not JSON as its content type says' },
  { path: '/echo', body: '', type: 'application/json', says: 'the body is empty, and its content type says JSON' },
  { path: '/echo', body: '[]', type: 'text/plain', says: 'expected a JSON object' },
  { path: '/echo', body: 'a=1', type: 'application/x-www-form-urlencoded', says: 'this content type is not read here' },
  { path: `/echo/${'a'.repeat(2_049)}`, body: '{}', type: 'application/json', says: 'longer than 2048 characters' },
])('what is refused before a route reads it is told: $says', async ({ path, body, type, says }) => {
  const echo = z.strictObject({ a: z.string().optional() });
  const read = async ({ body: sent }: { body: unknown }) => readRequest(echo, sent);
  await using server = await serveWeb({
    plugins: [async (app) => void app.post('/echo', read), async (app) => void app.post('/echo/:id', read)],
  });
  const headers = { 'content-type': type };
  const url = `http://127.0.0.1:${server.addr().port}${path}`;
  const answer = (await (await fetch(url, { method: 'POST', body, headers })).json()) as { message: string };
  expect(answer.message).toContain(says);
  expect(answer.message.length).toBeLessThan(100);
});

test('serves what further plugins add, and tells nothing of what they throw', async () => {
  await using server = await serveWeb({
    plugins: [
      async (app) => {
        app.get('/nodes', async () => ({ nodes: {} }));
        app.get('/broken', async () => {
          throw new Error('secret detail');
        });
      },
    ],
  });
  expect(await ask(server, '/nodes')).toMatchObject({ status: 200, body: '{"nodes":{}}' });
  const broken = await ask(server, '/broken');
  expect(broken.status).toBe(500);
  expect(JSON.parse(broken.body)).toMatchObject({ ok: 0, error: 'internal' });
  expect(broken.body).not.toContain('secret');
});

test('tells of every answer by the path that the program knows', async () => {
  const answered: unknown[] = [];
  const metrics: WebOptions['metrics'] = { ...noMetrics, requestAnswered: (one) => answered.push(one) };
  await using server = await serveWeb({ metrics });
  for (const [path, method] of [
    ['/healthz?full', 'GET'],
    ['/nothing/secret', 'GET'],
    ['/healthz', 'DELETE'],
  ] as const)
    await ask(server, path, method);
  const seconds: unknown = expect.any(Number);
  await expect
    .poll(() => answered)
    .toEqual([
      { route: '/healthz', method: 'GET', status: 200, seconds },
      { route: null, method: 'GET', status: 404, seconds },
      { route: '/healthz', method: 'DELETE', status: 405, seconds },
    ]);
});

test('packs the metrics for those who take them packed, and the Accept header reaches them', async () => {
  const asked: unknown[] = [];
  const metrics: WebOptions['metrics'] = {
    ...noMetrics,
    scrape(of) {
      asked.push(of);
      return noMetrics.scrape(of);
    },
  };
  await using server = await serveWeb({ metrics });
  const headers = { 'accept-encoding': 'gzip', accept: 'text/plain', 'x-prometheus-scrape-timeout-seconds': '10' };
  const packed = await fetch(`http://127.0.0.1:${server.addr().port}/metrics`, {
    headers: { ...headers, 'user-agent': 'Prometheus/3' },
  });
  expect(packed.headers.get('content-encoding')).toBe('gzip');
  expect(packed.headers.get('vary')).toBe('accept, accept-encoding');
  expect(await packed.text()).toBe('up 1\n');
  const plain = await ask(server, '/metrics');
  expect(plain.headers).not.toHaveProperty('content-encoding');
  expect(asked).toEqual([
    { accept: 'text/plain', scraper: '127.0.0.1 Prometheus/3' },
    { accept: undefined, scraper: null },
  ]);
});

test('answers 500 where the metrics cannot be written, and goes on', async () => {
  const text = async () => {
    throw new Error('no');
  };
  await using server = await serveWeb({ metrics: metricsOf(text) });
  expect((await ask(server, '/metrics')).status).toBe(500);
  expect((await ask(server, '/healthz')).status).toBe(200);
});

test('answers what is no HTTP with a JSON body', async () => {
  await using server = await serveWeb();
  const [head, body] = (await raw(server, 'hello\r\n\r\n')).split('\r\n\r\n');
  expect(head).toMatch(/^HTTP\/1\.1 400 /);
  expect(JSON.parse(body ?? '')).toMatchObject({ ok: 0, error: 'bad_request' });
});

test('refuses a head above the limit', async () => {
  await using server = await serveWeb({ limits: { headBytes: 2_048 } });
  const answer = await raw(server, `GET / HTTP/1.1\r\nHost: a\r\nX-Long: ${'x'.repeat(4_096)}\r\n\r\n`);
  expect(answer).toMatch(/^HTTP\/1\.1 431 /);
});

test('cuts a client that never ends its head', async () => {
  await using server = await serveWeb({ limits: { headersMs: 100, requestMs: 200 } });
  expect(await raw(server, 'GET / HTTP/1.1\r\nHost: a\r\n')).toMatch(/^HTTP\/1\.1 408 /);
});

test('cuts a client that sends nothing at all', async () => {
  await using server = await serveWeb({ limits: { idleMs: 100 } });
  expect(await raw(server, '')).toBe('');
});

test('does not cut a client that waits for an answer', async () => {
  await using server = await serveWeb({
    limits: { idleMs: 100 },
    metrics: metricsOf(async () => new Promise((resolve) => void setTimeout(() => resolve('late\n'), 500))),
  });
  expect((await ask(server, '/metrics')).body).toBe('late\n');
});

test('cuts a client that does not read its answer', async () => {
  const clock = new FakeClock();
  const big = 'x'.repeat(50_000_000);
  await using server = await serveWeb({ clock, metrics: metricsOf(async () => big) });
  const request = get({ host: '127.0.0.1', port: server.addr().port, path: '/metrics', agent: false });
  const [response] = await once(request, 'response');
  response.pause();
  const failed = once(response, 'error');
  await clock.advance(60_000);
  response.resume();
  expect(await failed).toMatchObject([{ code: 'ECONNRESET' }]);
});

test('one timer watches all requests, and none is left behind', async () => {
  const clock = new FakeClock();
  const server = await serveWeb({ clock });
  for (let count = 0; count < 3; count += 1) await ask(server, '/metrics');
  expect(clock.pending).toBe(1);
  await clock.advance(60_000);
  expect(clock.pending).toBe(0);
  await ask(server, '/metrics');
  await server.close();
  expect(clock.pending).toBe(0);
});

test('each slow reader has its own time', async () => {
  const clock = new FakeClock();
  const big = 'x'.repeat(50_000_000);
  await using server = await serveWeb({ clock, metrics: metricsOf(async () => big) });
  const readLater = async () => {
    const request = get({ host: '127.0.0.1', port: server.addr().port, path: '/metrics', agent: false });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return response.pause();
  };
  const first = await readLater();
  const failed = once(first, 'error');
  await clock.advance(40_000);
  const second = await readLater();
  await clock.advance(20_000);
  first.resume();
  expect(await failed).toMatchObject([{ code: 'ECONNRESET' }]);
  expect(await text(second)).toHaveLength(big.length);
});

test('an answer that is made slowly is not cut while its client reads what there is of it', async () => {
  const clock = new FakeClock();
  const pieces = Array.from({ length: 4 }, () => Promise.withResolvers<string>());
  async function* slowly() {
    for (const { promise } of pieces) yield promise;
  }
  await using server = await serveWeb({ clock, metrics: metricsInPieces(slowly) });
  const request = get({ host: '127.0.0.1', port: server.addr().port, path: '/metrics', agent: false });
  const answered = once(request, 'response') as Promise<[IncomingMessage]>;
  let read = '';
  for (const [index, { resolve }] of pieces.entries()) {
    resolve(`piece ${index}\n`);
    const [response] = await answered;
    if (index === 0) response.setEncoding('utf8').on('data', (more: string) => (read += more));
    await expect.poll(() => read).toMatch(new RegExp(`piece ${index}\n$`));
    await clock.advance(50_000);
  }
  expect(read).toBe('piece 0\npiece 1\npiece 2\npiece 3\n');
});

test('an answer that comes late by our own fault is not cut, and has to be read then', async () => {
  const clock = new FakeClock();
  const reached = Promise.withResolvers<void>();
  const big = Promise.withResolvers<string>();
  const late = async () => {
    reached.resolve();
    return big.promise;
  };
  await using server = await serveWeb({ clock, metrics: metricsOf(late) });
  const request = get({ host: '127.0.0.1', port: server.addr().port, path: '/metrics', agent: false });
  await reached.promise;
  await clock.advance(150_000);
  expect(clock.pending).toBe(1);
  big.resolve('x'.repeat(50_000_000));
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.pause();
  const failed = once(response, 'error');
  await clock.advance(60_000);
  response.resume();
  expect(await failed).toMatchObject([{ code: 'ECONNRESET' }]);
});

test('lets a running request end before it closes', async () => {
  const reached = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<string>();
  const slow = async () => {
    reached.resolve();
    return finish.promise;
  };
  const server = await serveWeb({ metrics: metricsOf(slow) });
  const answer = ask(server, '/metrics');
  await reached.promise;
  const closed = server.close();
  finish.resolve('done\n');
  expect((await answer).body).toBe('done\n');
  await closed;
});

test('cuts a request that does not end when it closes', async () => {
  const clock = new FakeClock();
  const reached = Promise.withResolvers<void>();
  const stuck = async () => {
    reached.resolve();
    return new Promise<string>(() => {});
  };
  const server = await serveWeb({ clock, metrics: metricsOf(stuck) });
  const answer = ask(server, '/metrics').catch((error: unknown) => error);
  await reached.promise;
  const closed = server.close();
  await clock.advance(5_000);
  await closed;
  expect(await answer).toMatchObject({ code: 'ECONNRESET' });
  expect(clock.pending).toBe(0);
});

test('closing twice is harmless, and idle connections do not hold it up', async () => {
  const server = await serveWeb();
  const socket = connect(server.addr().port, '127.0.0.1');
  await once(socket, 'connect');
  socket.resume();
  const ended = once(socket, 'close');
  await server.close();
  await server.close();
  expect(await ended).toEqual([false]);
});

test('says which address is taken and what to do', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const failed = await serveWeb({ listen: { host: '127.0.0.1', port } }).catch((error: unknown) => error);
  other.close();
  expect(failed).toBeInstanceOf(WatchpostError);
  expect(failed).toMatchObject({ code: 'listen_failed', cause: { code: 'EADDRINUSE' } });
  expect(failed).toHaveProperty(
    'message',
    `cannot listen on 127.0.0.1:${port}: listen EADDRINUSE: address already in use 127.0.0.1:${port}; ` +
      'another program listens there: stop it, or choose another port in http.listen',
  );
});

test('says that the machine has no such address', async () => {
  const failed = serveWeb({ listen: { host: '192.0.2.1', port: 0 } });
  await expect(failed).rejects.toThrow(/cannot listen on 192\.0\.2\.1:0: .*this machine has no such address/);
});
