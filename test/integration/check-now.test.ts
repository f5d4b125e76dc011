import { expect, test } from 'vitest';
import { serveHttp } from '../support/http-servers.ts';
import { createProgram, eventually, query } from '../support/program.ts';

const asBrowser = { accept: 'text/html' };

const nodesAreThere = async (url: string, count: number) =>
  eventually(60_000, async () => {
    const { nodes } = (await (await fetch(`${url}/nodes/hosts`)).json()) as { nodes: object };
    expect(Object.keys(nodes)).toHaveLength(count);
  });

test('a target is checked now as it is configured, from all nodes, and its report keeps none of its secrets', async () => {
  const asked: string[] = [];
  await using server = await serveHttp((request, response) => {
    const isRight = request.method === 'POST' && request.headers['x-key'] === 'secret-word';
    asked.push(String(request.method));
    response.writeHead(isRight ? 200 : 401).end(isRight ? 'welcome' : 'who are you?');
  });
  await using program = await createProgram();
  const { url } = await program.start(`
data: watchpost.db
http: { listen: 127.0.0.1:0 }
service: {}
nodes: { de1: {}, us1: {} }
defaults: { every: 1d }
targets:
  shop:
    check: http
    host: "http://127.0.0.1:${server.port}/"
    method: POST
    headers: { x-key: secret-word }
    expect: { body: { contains: welcome } }
    nodes: [de1]
  job: { check: heartbeat, secret_hash: ${'a'.repeat(64)} }
`);
  await nodesAreThere(url, 2);
  const checkNow = async (target: string, headers: Record<string, string>) =>
    fetch(`${url}/actions/check`, {
      method: 'POST',
      headers: { ...asBrowser, ...headers },
      body: new URLSearchParams({ target }),
      redirect: 'manual',
    });

  expect((await checkNow('shop', { origin: 'https://evil.example' })).status).toBe(403);
  expect((await checkNow('job', { origin: url })).status).toBe(400);
  expect(asked).toEqual([]);
  const started = await checkNow('shop', { origin: url });
  expect(started.status).toBe(303);
  const report = started.headers.get('location') ?? '';
  expect(report).toMatch(/^\/check-report\/\w{20}\?target=shop$/);
  expect(await (await fetch(`${url}${report}&wait=20`)).json()).toMatchObject({ command: 'http' });
  const page = await (await fetch(`${url}${report}`, { headers: asBrowser })).text();
  expect(page).toContain('all 2 nodes got a good answer');
  expect(page).toContain('name="target" value="shop"');
  expect(page).not.toContain('secret-word');
  expect(asked).toEqual(['POST', 'POST']);
  const runs = query(program.database, 'SELECT * FROM runs');
  expect(runs).toHaveLength(1);
  expect(JSON.stringify(runs)).not.toContain('secret-word');
  expect(await (await fetch(`${url}/targets/job`)).text()).not.toContain('/actions/check');
});

test('a form of a browser starts a check of any type and is led to its report', async () => {
  await using server = await serveHttp((_, response) => response.end('fine'));
  await using program = await createProgram();
  const { url } = await program.start(
    'data: watchpost.db\nhttp: { listen: 127.0.0.1:0 }\nservice: {}\nnodes: { de1: {} }',
  );
  await nodesAreThere(url, 1);
  for (const type of ['tls', 'grpc', 'websocket']) {
    const started = await fetch(`${url}/api/v1/checks`, {
      method: 'POST',
      headers: { ...asBrowser, origin: url },
      body: new URLSearchParams({ type, host: `127.0.0.1:${server.port}` }),
      redirect: 'manual',
    });
    expect([type, started.status]).toEqual([type, 303]);
    // Relative to what was asked for, as a browser reads it.
    const report = new URL(started.headers.get('location') ?? '', `${url}/api/v1/checks`).href;
    await (await fetch(`${report.replace('/check-report/', '/api/v1/checks/')}?wait=20`)).text();
    const page = await (await fetch(report, { headers: asBrowser })).text();
    expect(page).toContain(`<bdi>${type} `);
    expect(page).toContain('0 of 1 node');
  }
});
