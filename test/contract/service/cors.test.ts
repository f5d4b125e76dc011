import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { fakeNodes, places, startService, type TestServiceOptions } from '../../support/check-service.ts';
import { up } from '../../support/votes.ts';

const start = async (origins: readonly string[], web?: TestServiceOptions['web']) => {
  const transport = fakeNodes(places, () => up(0.01, { address: '127.0.0.1' }));
  return { transport, service: await startService({ transport, access: { open: true, origins }, web }) };
};
// What a browser sends for a script of another site.
const scriptOf = (origin: string) => ({ origin, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' });
const app = 'https://app.example.com';
const corsHeaders = ({ headers }: Response) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-')));

test('a page of a named origin starts a check as a stranger, and reads every answer', async () => {
  const { service, transport } = await start([app]);
  await using _ = service;
  const ask = async (path: string) => fetch(`${service.url}${path}`, { headers: scriptOf(app) });
  const started = await ask('/check-tcp?host=192.88.98.1');
  expect(started.status).toBe(200);
  // Its browser may run on this machine: the page does not.
  expect(transport.commands.at(-1)?.command.policy).toBe('public');
  expect(corsHeaders(started)).toEqual({
    'access-control-allow-origin': app,
    'access-control-expose-headers': expect.stringContaining('x-ratelimit-remaining'),
  });
  expect(started.headers.get('vary')).toBe('accept, origin');
  expect(started.headers.get('cross-origin-resource-policy')).toBe('cross-origin');
  const { request_id: id } = (await started.json()) as { request_id: string };
  for (const path of [
    `/check-result/${id}?wait=5`,
    '/api/v1/nodes',
    '/check-result/none',
    '/check-tcp?host=10.0.0.1',
  ]) {
    expect((await ask(path)).headers.get('access-control-allow-origin')).toBe(app);
  }
  // Browsers without Sec-Fetch headers.
  const old = await fetch(`${service.url}/check-tcp?host=127.0.0.1`, { headers: { origin: app } });
  expect([old.status, await old.json()]).toEqual([403, expect.objectContaining({ error: 'forbidden_target' })]);
});

test('a preflight of a named origin is answered, and one of another is refused', async () => {
  const { service } = await start([app]);
  await using _ = service;
  const preflight = async (origin: string) =>
    fetch(`${service.url}/api/v1/checks`, {
      method: 'OPTIONS',
      headers: { ...scriptOf(origin), 'access-control-request-method': 'POST' },
    });
  const allowed = await preflight(app);
  expect([allowed.status, corsHeaders(allowed)]).toEqual([
    204,
    {
      'access-control-allow-origin': app,
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'authorization, content-type, if-none-match, last-event-id',
      'access-control-expose-headers': expect.any(String),
      'access-control-max-age': '7200',
    },
  ]);
  const refused = await preflight('https://evil.example');
  expect([refused.status, corsHeaders(refused)]).toEqual([403, {}]);
});

test('pages of other origins start and read nothing; "*" names all', async () => {
  const ask = async (origins: readonly string[], origin: string) => {
    const { service } = await start(origins);
    await using _ = service;
    const answer = await fetch(`${service.url}/check-tcp?host=192.88.98.1`, { headers: scriptOf(origin) });
    return [answer.status, answer.headers.get('access-control-allow-origin')];
  };
  expect(await ask([app], 'https://evil.example')).toEqual([403, null]);
  expect(await ask([app], 'null')).toEqual([403, null]);
  expect(await ask([], app)).toEqual([403, null]);
  expect(await ask(['*'], 'https://evil.example')).toEqual([200, '*']);
});

test.each([
  { name: 'a path that is too long', status: 414, error: 'too_long', path: `/check-result/${'x'.repeat(3_000)}` },
  { name: 'headers that are too long', status: 431, error: 'too_large', more: { 'x-long': 'x'.repeat(20_000) } },
  { name: 'a path that cannot be decoded', status: 400, error: 'bad_request', path: '/check-result/%zz' },
  { name: 'a path that nothing serves', status: 404, error: 'not_found', path: '/api/v1/nothing' },
  { name: 'another method', status: 405, error: 'method_not_allowed', path: '/api/v1/checks' },
])('a page of a named origin reads the refusal before a route: $name', async ({ status, error, path, more }) => {
  const { service } = await start([app]);
  await using _ = service;
  for (const [origin, allowed] of [
    [app, app],
    ['https://evil.example', null],
  ] as const) {
    const answer = await fetch(`${service.url}${path ?? '/api/v1/nodes'}`, {
      headers: { ...scriptOf(origin), ...more },
    });
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([status, allowed]);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    expect(await answer.json()).toEqual({ ok: 0, error, message: expect.any(String) });
  }
});

test('a page of a named origin reads that its body came too slowly', async () => {
  const { service } = await start([app], { headersMs: 200, requestMs: 300 });
  await using _ = service;
  const answerTo = async (origin: string) => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    socket.write(`POST /api/v1/checks HTTP/1.1\r\nHost: a\r\nOrigin: ${origin}\r\nContent-Length: 9\r\n\r\n{`);
    return text(socket);
  };
  const answer = await answerTo(app);
  expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  expect(answer).toContain(`access-control-allow-origin: ${app}\r\n`);
  expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toMatchObject({ ok: 0, error: 'timeout' });
  expect(await answerTo('https://evil.example')).not.toContain('access-control');
});
