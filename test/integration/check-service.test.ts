import { expect, test } from 'vitest';
import { createProgram, eventually } from '../support/program.ts';
import { serveHttp } from '../support/http-servers.ts';
import { tcpServer } from '../support/tcp-servers.ts';

const config = `
data: watchpost.db
http: { listen: 127.0.0.1:0 }
service: {}
nodes: { de1: {}, us1: {} }
`;

const get = async (url: string) => (await (await fetch(url)).json()) as Record<string, unknown>;

test('metrics are not for strangers where strangers may start checks, and have a listener of their own where one is given', async () => {
  const forwarded = { headers: { 'x-forwarded-for': '198.51.100.1' } };
  const statusOf = async (url: string, init?: RequestInit) => (await fetch(url, init)).status;
  await using program = await createProgram();
  for (const [service, status] of [
    ['service: {}', 200],
    ['service: { open: true }', 403],
  ] as const) {
    const running = await program.start(config.replace('service: {}', service));
    expect(await statusOf(`${running.url}/metrics`)).toBe(200);
    expect(await statusOf(`${running.url}/metrics`, forwarded)).toBe(status);
    expect(await statusOf(`${running.url}/healthz`, forwarded)).toBe(200);
    await running.end('SIGTERM');
  }
  const apart = config.replace('127.0.0.1:0', '127.0.0.1:0, admin: 127.0.0.1:0').replace('{}', '{ open: true }');
  const running = await program.start(apart);
  expect(await statusOf(`${running.url}/metrics`)).toBe(404);
  expect(await statusOf(`${running.url}/nodes/ips`)).toBe(200);
  await running.end('SIGTERM');
});

test('a file with only "service" runs a check service, and a crash in the middle of a check ends it as a fault', async () => {
  await using program = await createProgram();
  // It takes connections and says nothing, so that an http check waits.
  await using silent = await tcpServer(() => {});
  let running = await program.start(config);
  const ready = async () =>
    expect(Object.keys((await get(`${running.url}/nodes/hosts`))['nodes'] as object)).toHaveLength(2);
  await eventually(10_000, ready);
  const open = await get(`${running.url}/check-http?host=127.0.0.1:${silent.port}`);
  const path = `/check-result/${String(open['request_id'])}`;
  const ids = ['de1', 'us1'].map((name) => `${name}.node.watchpost.internal`);
  expect(Object.keys(open['nodes'] as object)).toEqual(ids);
  expect(await get(running.url + path)).toEqual(Object.fromEntries(ids.map((id) => [id, null])));
  await running.end('SIGKILL');
  running = await program.start(config);
  const message = 'the service was restarted before this node answered';
  expect(await get(running.url + path)).toEqual(Object.fromEntries(ids.map((id) => [id, [null, { message }]])));
  await eventually(10_000, ready);
  const later = await get(`${running.url}/check-tcp?host=127.0.0.1:${silent.port}&node=de1`);
  const result = `${running.url}/check-result/${String(later['request_id'])}`;
  const whole = await get(`${result}?wait=10`);
  expect(whole).toEqual({ [ids[0] ?? '']: [{ time: expect.any(Number), address: '127.0.0.1' }] });
  expect(await running.end('SIGTERM')).toEqual({ code: 0, signal: null });
  running = await program.start(config);
  expect(await get(`${running.url}/check-result/${String(later['request_id'])}`)).toEqual(whole);
});

test('an option of a check over the API is what its target sees, and one that is not known is refused', async () => {
  await using program = await createProgram();
  const methods: (string | undefined)[] = [];
  await using target = await serveHttp((request, response) => {
    methods.push(request.method);
    response.end();
  });
  const running = await program.start(config);
  await eventually(10_000, async () =>
    expect(Object.keys((await get(`${running.url}/nodes/hosts`))['nodes'] as object)).toHaveLength(2),
  );
  const post = async (options: object) =>
    fetch(`${running.url}/api/v1/checks`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'http', host: `127.0.0.1:${target.port}`, max_nodes: 1, options }),
    });
  const refused = await post({ methd: 'HEAD' });
  expect([refused.status, await refused.json()]).toEqual([
    400,
    { ok: 0, error: 'invalid_option', message: 'options.methd: unknown key (did you mean "method"?)' },
  ]);
  const started = await post({ method: 'HEAD' });
  expect(started.status).toBe(201);
  expect(await get(`${String(started.headers.get('location'))}?wait=10`)).toMatchObject({
    results: [{ outcome: { status: 'up' } }],
  });
  expect(methods).toEqual(['HEAD']);
});

test('service.cors lets a page of that origin read what the service answers', async () => {
  await using program = await createProgram();
  const running = await program.start(config.replace('service: {}', 'service: { cors: [https://App.example.com] }'));
  const allowed = async (origin: string) =>
    (await fetch(`${running.url}/nodes/hosts`, { headers: { origin } })).headers.get('access-control-allow-origin');
  expect(await allowed('https://app.example.com')).toBe('https://app.example.com');
  expect(await allowed('https://evil.example')).toBeNull();
});
