import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { checkOf, CheckSpec, type Outcome } from '#checks/index.ts';
import { systemClock } from '#kernel/clock.ts';
import { issue } from '../../support/certificates.ts';
import { forbidden, loopbackGate } from '../../support/http-check.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { startProber } from '../../support/probe-once.ts';

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;

async function serve(answer: Answer, tls?: { readonly cert: string; readonly key: string }) {
  const listener = (request: IncomingMessage, response: ServerResponse) =>
    void text(request).then((body) => answer(request, response, body));
  const server = tls === undefined ? createServer(listener) : createSecureServer(tls, listener);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}

async function run(spec: object, signal = new AbortController().signal, gate = loopbackGate()): Promise<Outcome> {
  const type = checkOf('flow');
  const parsed = CheckSpec.parse({ type: 'flow', ...spec });
  const prober = await startProber('flow', { clock: systemClock, random: seededRandom(), localAddress: {} });
  try {
    return type.Outcome.parse(await prober.probe(parsed, { gate, signal }));
  } finally {
    await prober.close();
  }
}

// A shop: one signs in with a form, is redirected with a cookie, gets a token, and asks with it.
const shop: Answer = (request, response, body) => {
  const { method, url = '', headers } = request;
  if (url === '/login' && method === 'GET')
    return void response.end('<form><input name="csrf" value="c-77881"></form>');
  if (url === '/login' && body === 'user=ann&password=s%26cret-word&csrf=c-77881') {
    response.writeHead(302, {
      location: '/account',
      'set-cookie': ['session=sess-4711; Path=/; HttpOnly', 'other=x; Path=/none'],
    });
    return void response.end();
  }
  if (url === '/account' && headers.cookie === 'session=sess-4711') {
    response.setHeader('x-next', '/api/orders?page=1');
    return void response.end('{"token":"tok-\\"99","n":5}');
  }
  if (url === '/api/orders?page=1' && headers.authorization === 'Bearer tok-"99')
    return void response.end('{"orders":[1,2]}');
  response.writeHead(401, 'Unauthorized');
  return void response.end(`refused ${headers.cookie} ${body}`);
};

const steps = [
  { name: 'form', url: '/login', capture: { csrf: { regex: 'name="csrf" value="([^"]+)"' } } },
  {
    name: 'login',
    url: '/login',
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: 'user=ann&password={{password}}&csrf={{csrf}}',
    redirects: 3,
    expect: { status: 200, body: { json: { path: '$.n', equals: 5 } } },
    capture: { token: { json: '$.token' }, next: { header: 'X-Next' }, session: { cookie: 'session' } },
  },
  { url: '{{next}}', headers: { authorization: 'Bearer {{token}}' }, expect: { body: { contains: 'orders' } } },
];
const values = { password: 's&cret-word' };

test('values and cookies go from one step to the next', async () => {
  await using server = await serve(shop);
  const outcome = await run({ host: `http://a.example:${server.port}`, steps, values });
  expect(outcome).toMatchObject({
    status: 'up',
    address: '127.0.0.1',
    phases: { resolve: 0.001, connect: expect.any(Number), first_byte: expect.any(Number) },
    detail: {
      steps: [
        { name: 'form', method: 'GET', status: 200, redirects: 0 },
        { name: 'login', method: 'POST', status: 200, redirects: 1, url: expect.stringMatching(/\/account$/) },
        { name: '3', status: 200, url: expect.stringMatching(/\/api\/orders$/), failed_expectation: null },
      ],
    },
  });
  const lines = checkOf('flow').lines(outcome);
  expect(lines).toHaveLength(3);
  expect(lines[1]).toMatch(/^login +█+ .*POST 200 +http:\/\/a\.example/);
});

test('an address that was captured may be as long as those of single sign-on', async () => {
  const next = `/sso?SAMLRequest=${'a'.repeat(6_000)}`;
  await using server = await serve((request, response) => {
    response.writeHead(request.url === '/' || request.url === next ? 200 : 404).end(next);
  });
  const host = `http://127.0.0.1:${server.port}`;
  const following = [{ capture: { next: { regex: '^.*$' } } }, { url: '{{next}}' }];
  expect(await run({ host, steps: following })).toMatchObject({ status: 'up' });
});

test('the first step that fails ends the flow, and secrets stay out of it', async () => {
  await using server = await serve((request, response, body) => {
    if (request.method === 'GET') return shop(request, response, body);
    response.writeHead(401, `no ${body}`.replaceAll('&', ' '));
    return void response.end();
  });
  const outcome = await run({ host: `http://a.example:${server.port}`, steps, values });
  expect(outcome).toMatchObject({
    status: 'down',
    failure: { source: 'target', code: 'status', message: expect.stringMatching(/^step 2 \(login\): 401 no /) },
    detail: { steps: [{ status: 200 }, { status: 401, failed_expectation: 'status' }] },
  });
  const shown = JSON.stringify(outcome);
  expect(shown).toContain('***');
  for (const secret of ['cret-word', 'c-77881']) expect(shown).not.toContain(secret);
});

test.each([
  [{ regex: 'id=(\\d+)' }, 'step 1: no id: nothing matches id=(\\d+)'],
  [{ json: '$.id' }, 'step 1: no id: the body is not JSON'],
  [{ header: 'x-id' }, 'step 1: no id: there is no header "x-id"'],
  [{ cookie: 'id' }, 'step 1: no id: no cookie "id" was set'],
])('what cannot be captured by %j', async (capture, message) => {
  await using server = await serve((_, response) => void response.end('nothing'));
  const outcome = await run({ host: `http://127.0.0.1:${server.port}`, steps: [{ capture: { id: capture } }, {}] });
  expect(outcome).toMatchObject({ status: 'down', failure: { source: 'target', code: 'answer', message } });
  expect((outcome.detail as { steps: unknown[] }).steps).toHaveLength(1);
});

test('a captured value cannot break a header or leave http', async () => {
  await using server = await serve((_, response) => void response.end('{"a":"x\\r\\ny: z","b":"file:///etc/passwd"}'));
  const host = `http://127.0.0.1:${server.port}`;
  const capture = { a: { json: '$.a' }, b: { json: '$.b' } };
  expect(await run({ host, steps: [{ capture }, { headers: { 'x-a': '{{a}}' } }] })).toMatchObject({
    failure: { code: 'answer', message: 'step 2: the value for its header "x-a" cannot be sent' },
  });
  expect(await run({ host, steps: [{ capture }, { url: '{{b}}' }] })).toMatchObject({
    status: 'down',
    failure: { code: 'answer' },
  });
});

test('every address goes through the gate: those of steps, of captured values and of redirects', async () => {
  await using server = await serve((request, response) => {
    if (request.url === '/away') response.writeHead(302, { location: 'http://inner.example/' });
    response.end('http://inner.example/');
  });
  const host = `http://a.example:${server.port}`;
  const gate = loopbackGate({ 'inner.example': forbidden });
  for (const more of [
    [{ url: 'http://inner.example/' }],
    [{ capture: { next: { regex: '^.*$' } } }, { url: '{{next}}' }],
    [{ url: '/away', redirects: 1 }],
  ])
    expect(await run({ host, steps: more }, undefined, gate)).toMatchObject({
      status: 'unknown',
      failure: { source: 'node', code: 'forbidden' },
    });
});

test('cookies of one host are not sent to another', async () => {
  const seen: (string | undefined)[] = [];
  await using server = await serve((request, response) => {
    seen.push(request.headers.cookie);
    response.setHeader('set-cookie', 'a=1').end();
  });
  const { port } = server;
  await run({ host: `http://a.example:${port}`, steps: [{}, { url: `http://b.example:${port}/` }, {}] });
  expect(seen).toEqual([undefined, undefined, 'a=1']);
});

test('a redirect to the same address with a cookie is no loop', async () => {
  await using server = await serve((request, response) => {
    if (request.headers.cookie === 'seen=1') return void response.end('welcome');
    return void response.writeHead(302, { location: '/', 'set-cookie': 'seen=1' }).end();
  });
  const host = `http://a.example:${server.port}`;
  const step = { redirects: 1, expect: { body: { contains: 'welcome' } } };
  expect(await run({ host, steps: [step] })).toMatchObject({
    status: 'up',
    detail: { steps: [{ status: 200, redirects: 1 }] },
  });
});

test.each([
  ['the same cookie', () => 'a=1', 'step 1: redirect loop: back to http://a.example:'],
  ['ever another cookie', (count: number) => `a=${count}`, 'step 1: more than 3 redirects'],
])('a redirect to the same address with %s is a loop', async (_, cookie, message) => {
  let count = 0;
  await using server = await serve((_request, response) => {
    response.writeHead(302, { location: '/', 'set-cookie': cookie((count += 1)) }).end();
  });
  const outcome = await run({ host: `http://a.example:${server.port}`, steps: [{ redirects: 3 }] });
  expect(outcome).toMatchObject({
    status: 'down',
    failure: { code: 'redirect', message: expect.stringContaining(message) },
  });
});

test('one time for all steps', async () => {
  await using server = await serve((request, response) => void (request.url === '/slow' || response.end()));
  const spec = {
    host: `http://127.0.0.1:${server.port}`,
    timeout: '500ms',
    steps: [{}, { name: 'slow', url: '/slow' }],
  };
  expect(await run(spec)).toMatchObject({
    status: 'down',
    failure: { source: 'target', code: 'timeout', message: expect.stringMatching(/^step 2 \(slow\): /) },
    detail: { steps: [{ status: 200 }, { status: null }] },
  });
  const ending = new AbortController();
  const reason = new Error('enough');
  const running = run(spec, ending.signal);
  setTimeout(() => ending.abort(reason), 100);
  await expect(running).rejects.toBe(reason);
});

test('TLS: certificates are verified, and reported', async () => {
  const made = await issue({ names: ['a.example'] });
  await using server = await serve((_, response) => void response.end(), made);
  const spec = { host: `https://a.example:${server.port}`, steps: [{}, {}] };
  expect(await run(spec)).toMatchObject({ status: 'down', failure: { code: 'certificate_untrusted' } });
  const trusting = await run({ ...spec, tls: { verify: false } });
  expect(trusting).toMatchObject({
    status: 'up',
    facts: { certificate_expires_at: expect.any(Number) },
    detail: { steps: [{ status: 200 }, { status: 200 }] },
  });
  expect(checkOf('flow').certificate?.(trusting)).not.toBeNull();
});

test.each([
  [{ steps: [] }, 'steps'],
  [{ steps: [{ url: '/{{token}}' }] }, '{{token}} is neither in values nor captured by an earlier step'],
  [{ steps: [{ body: '{{a}}', capture: { a: { header: 'x' } } }] }, '{{a}} is neither'],
  [{ steps: [{ headers: { 'x-a': '{{a}}' } }] }, '{{a}} is neither'],
  [{ steps: [{ capture: { a: { json: 'nonsense' } } }] }, 'capture'],
  [{ steps: [{ capture: { a: {} } }] }, 'expected { json }'],
])('%j is refused', (more, message) => {
  const read = CheckSpec.safeParse({ type: 'flow', host: 'https://a.example', ...more });
  expect(read.success).toBe(false);
  expect(read.error?.message).toContain(message);
});
