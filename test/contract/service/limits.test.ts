import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { failed, failure } from '#checks/index.ts';
import { ApiLimits } from '#protocol/version-one.ts';
import { fakeNodes, places, startService, type TestServiceOptions } from '../../support/check-service.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { up } from '../../support/votes.ts';

const answering = () => fakeNodes(places, () => up(0.01, { address: '127.0.0.1' }));
const start = async (more: Partial<TestServiceOptions>) => startService({ transport: answering(), ...more });
const rateHeaders = ({ headers }: Response) =>
  ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'retry-after'].map((name) => headers.get(name));

test('starts say what is left, and one too many says when to come back; reads are free', async () => {
  const clock = new FakeClock();
  await using service = await start({ clock, rates: { per_client: { count: 4, perMs: 60_000 } } });
  const first = await fetch(`${service.url}/check-tcp?host=127.0.0.1`);
  expect(rateHeaders(first)).toEqual(['4', '1', '45', null]);
  expect(first.headers.get('cache-control')).toBe('no-store');
  const second = await fetch(`${service.url}/check-tcp?host=127.0.0.1`);
  expect(rateHeaders(second)).toEqual(['4', '1', '45', '30']);
  expect([second.status, await second.json()]).toEqual([429, expect.objectContaining({ error: 'limit_exceeded' })]);
  const { request_id: id } = (await first.json()) as { request_id: string };
  for (let index = 0; index < 20; index += 1) {
    expect((await fetch(`${service.url}/check-result/${id}`)).status).toBe(200);
  }
  await clock.advance(30_000);
  expect((await fetch(`${service.url}/check-tcp?host=127.0.0.1`)).status).toBe(200);
});

test('one target is protected from all clients, however it is written', async () => {
  const clock = new FakeClock();
  await using service = await start({ clock, rates: { per_target: { count: 6, perMs: 60_000 } } });
  const statuses: number[] = [];
  for (const path of [
    '/check-tcp?host=127.0.0.1:80',
    '/check-http?host=https://127.1/a',
    '/check-ping?host=127.0.0.1',
  ]) {
    statuses.push((await fetch(`${service.url}${path}`)).status);
  }
  expect(statuses).toEqual([200, 200, 429]);
  expect((await fetch(`${service.url}/check-ping?host=127.0.0.2`)).status).toBe(200);
});

const perTarget = { per_target: { count: 6, perMs: 60_000 } };

test('one destination is protected whatever name leads to it, and whatever is put before a registered domain', async () => {
  const names: string[] = [];
  const lookup = async (name: string) => {
    names.push(name);
    return name.endsWith('.destination.example') ? ['198.51.99.1'] : [];
  };
  await using service = await start({ clock: new FakeClock(), rates: perTarget, lookup });
  const ask = async (host: string) => (await fetch(`${service.url}/check-tcp?host=${host}`)).status;
  expect([await ask('a.one.example'), await ask('b.one.example'), await ask('c.one.example')]).toEqual([200, 200, 429]);
  expect([await ask('a.destination.example'), await ask('198.51.99.1')]).toEqual([200, 200]);
  expect([await ask('198.51.99.1'), await ask('b.destination.example')]).toEqual([429, 429]);
  // Who is refused by the name alone costs no lookup.
  expect(names).toEqual(['a.one.example', 'b.one.example', 'a.destination.example', 'b.destination.example']);
});

test('an address that the nodes reached, and our own lookup did not know, pays for it afterwards', async () => {
  const transport = fakeNodes(places, () => up(0.01, { address: '198.51.99.1' }));
  const lookup = async () => ['198.51.99.200'];
  await using service = await start({ clock: new FakeClock(), rates: perTarget, transport, lookup });
  const ask = async (host: string) => {
    const answer = await fetch(`${service.url}/check-tcp?host=${host}`);
    const { request_id: id = '' } = (await answer.json()) as { request_id?: string };
    await fetch(`${service.url}/check-result/${id}?wait=5`);
    return answer.status;
  };
  expect([await ask('one.example'), await ask('198.51.99.1'), await ask('198.51.99.1')]).toEqual([200, 200, 429]);
});

test('an http check that is started over the API reads 64 KiB of a body at most', async () => {
  const transport = answering();
  await using service = await start({ transport });
  await fetch(`${service.url}/check-http?host=127.0.0.1`);
  expect(transport.commands.map(({ command }) => command.spec)).toEqual(
    places.map(() => expect.objectContaining({ type: 'http', max_body: 65_536 })),
  );
});

test('behind a trusted proxy each client has its own allowance; without trust the proxy pays for all', async () => {
  const clientsOf = async (trustProxy: readonly string[]) => {
    const rates = { per_client: { count: 3, perMs: 60_000 } };
    await using service = await start({ clock: new FakeClock(), rates, trustProxy, access: { open: true } });
    const ask = async (client: string) =>
      (await fetch(`${service.url}/check-tcp?host=192.88.98.1`, { headers: { 'x-forwarded-for': client } })).status;
    return [await ask('198.51.100.1'), await ask('198.51.100.1'), await ask('198.51.100.2')];
  };
  expect(await clientsOf(['127.0.0.1'])).toEqual([200, 429, 200]);
  expect(await clientsOf([])).toEqual([200, 429, 429]);
});

test('with tokens configured a start needs one, and reads need none', async () => {
  const hash = createHash('sha256').update('secret').digest();
  await using service = await start({ access: { tokens: [{ name: 'ci', hash }] } });
  const ask = async (headers: Record<string, string>) => fetch(`${service.url}/check-tcp?host=127.0.0.1`, { headers });
  const refused = await ask({});
  expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="checks"']);
  expect(await refused.json()).toMatchObject({ ok: 0, error: 'unauthorized' });
  expect((await ask({ authorization: 'Bearer wrong' })).status).toBe(401);
  const started = await ask({ authorization: 'bearer secret' });
  expect(started.status).toBe(200);
  const { request_id: id } = (await started.json()) as { request_id: string };
  expect((await fetch(`${service.url}/check-result/${id}`)).status).toBe(200);
});

test('private addresses are for callers on this machine: a proxy in front makes a stranger of everybody', async () => {
  const transport = answering();
  await using service = await start({ transport, access: { open: true } });
  const ask = async (headers: Record<string, string>, host = '10.0.0.1') =>
    (await fetch(`${service.url}/check-tcp?host=${host}`, { headers })).status;
  expect(await ask({})).toBe(200);
  expect(transport.commands.at(-1)?.command.policy).toBe('private');
  expect(await ask({ 'x-forwarded-for': '127.0.0.1' })).toBe(403);
  expect(await ask({ forwarded: 'for=127.0.0.1' })).toBe(403);
  expect(await ask({ 'x-forwarded-for': '127.0.0.1' }, 'example.com')).toBe(200);
  expect(transport.commands.at(-1)?.command.policy).toBe('public');
  await using shut = await start({ transport, access: { open: true, allowPrivate: false } });
  const refused = await fetch(`${shut.url}/check-http?host=http://127.0.0.1:80/`);
  expect([refused.status, await refused.json()]).toEqual([403, expect.objectContaining({ error: 'forbidden_target' })]);
});

test('a stranger hears nothing of the network of a node, in any form; whoever may reach it hears all', async () => {
  const inside = failed(failure('resolver', 'name_timeout', 'no answer from 10.0.0.53 within 2 s'), {
    address: '10.0.0.53',
  });
  const transport = fakeNodes(places, () => inside);
  await using service = await start({ transport, access: { open: true } });
  const told = async (headers: Record<string, string>) => {
    const started = await fetch(`${service.url}/check-dns?host=intranet.example`, { headers });
    const { request_id: id } = (await started.json()) as { request_id: string };
    const texts: string[] = [];
    for (const path of ['/check-result/', '/check-result-extended/', '/api/v1/checks/', '/check-report/'])
      texts.push(
        await (
          await fetch(`${service.url}${path}${id}?wait=5`, {
            headers: { accept: path.includes('report') ? 'text/html' : '*/*' },
          })
        ).text(),
      );
    texts.push(await (await fetch(`${service.url}/check-result/${id}/events`)).text());
    texts.push(JSON.stringify(service.store.checks.findRun(id)));
    return texts.map((one) => one.includes('10.0.0.53'));
  };
  expect(await told({ 'x-forwarded-for': '198.51.100.1' })).toEqual([false, false, false, false, false, false]);
  expect(await told({})).toEqual([true, true, true, true, true, expect.any(Boolean)]);
});

test.each([
  '169.254.169.254',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '2130706433',
  '0x7f.1',
  '[64:ff9b::7f00:1]',
  '127.1',
  '0',
  '[fd00::1]',
])('%s is no target for a stranger', async (host) => {
  const transport = answering();
  await using service = await start({ transport, access: { open: true, allowPrivate: false } });
  const refused = await fetch(`${service.url}/check-tcp?host=${encodeURIComponent(host)}`);
  expect([refused.status, await refused.json()]).toEqual([403, expect.objectContaining({ error: 'forbidden_target' })]);
  expect(transport.commands).toEqual([]);
});

test('a page of another site cannot start a check, and no answer lets one read', async () => {
  const transport = answering();
  await using service = await start({ transport, access: { open: true } });
  const refused = await fetch(`${service.url}/check-tcp?host=127.0.0.1`, {
    headers: { origin: 'https://evil.example' },
  });
  expect([refused.status, await refused.json()]).toEqual([403, expect.objectContaining({ error: 'cross_site' })]);
  expect(refused.headers.get('access-control-allow-origin')).toBeNull();
  expect(refused.headers.get('cross-origin-resource-policy')).toBe('same-origin');
  expect(transport.commands).toEqual([]);
});

test('a client that sends its request a byte at a time, or headers without end, is cut', async () => {
  await using service = await start({ web: { headersMs: 200, requestMs: 300 } });
  const { port } = new URL(service.url);
  const slow = connect(Number(port), '127.0.0.1');
  slow.write('GET /check-result/x HTTP/1.1\r\nHost: a\r\n');
  const [data] = (await once(slow, 'data')) as [Buffer];
  expect(data.toString()).toMatch(/^HTTP\/1\.1 408 /);
  await once(slow, 'close');
  const long = connect(Number(port), '127.0.0.1');
  long.write(`GET /check-tcp?host=${'a'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`);
  const [answer] = (await once(long, 'data')) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 431 /);
  long.destroy();
});

test.each(['127.0.0.1', 'localhost'])(
  'nobody is refused while a fitting node has an allowance left, and no node is asked more than its own: %s',
  async (host) => {
    const rates = { per_node: { count: 4, perMs: 60_000 } };
    await using service = await start({ clock: new FakeClock(), rates });
    const ask = async () => fetch(`${service.url}/check-tcp?host=${host}&max_nodes=1`);
    const responses = await Promise.all(Array.from({ length: 12 }, ask));
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
    const asked: Record<string, number> = {};
    for (const response of responses) {
      const { nodes } = (await response.json()) as { nodes: Record<string, unknown> };
      for (const node of Object.keys(nodes)) asked[node] = (asked[node] ?? 0) + 1;
    }
    expect(Object.values(asked)).toEqual([4, 4, 4]);
    expect((await ask()).status).toBe(429);
  },
);

const stranger = { 'x-forwarded-for': '198.51.100.1' };

test('strangers have a limit of their own for domain checks; a token and callers here do not pay it', async () => {
  const hour = (count: number) => ({ count, perMs: 3_600_000 });
  const hash = createHash('sha256').update('secret').digest();
  await using service = await start({
    clock: new FakeClock(),
    rates: { domain_per_client: hour(4), domain_per_node: hour(100) },
    access: { open: true, tokens: [{ name: 'ci', hash }] },
  });
  const post = async (type: string, headers: Record<string, string>) =>
    fetch(`${service.url}/api/v1/checks`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ type, host: 'example.com' }),
    });
  const first = await post('domain', stranger);
  expect([first.status, first.headers.get('x-ratelimit-resource'), ...rateHeaders(first)]).toEqual([
    201,
    'domain',
    '4',
    '1',
    '2700',
    null,
  ]);
  const second = await post('domain', stranger);
  expect([second.status, ...rateHeaders(second)]).toEqual([429, '4', '1', '2700', '1800']);
  expect((await post('dns', stranger)).headers.get('x-ratelimit-resource')).toBe('checks');
  for (const headers of [{}, { ...stranger, authorization: 'Bearer secret' }]) {
    const others = await Promise.all([post('domain', headers), post('domain', headers)]);
    expect(others.map(({ status }) => status)).toEqual([201, 201]);
  }
});

test.each(['postgres', 'mysql', 'redis', 'mongodb', 'mqtt', 'amqp', 'ssh'])(
  'strangers may not have nodes sign in to a server; a token and callers here may: %s',
  async (type) => {
    const hash = createHash('sha256').update('secret').digest();
    await using service = await start({ access: { open: true, tokens: [{ name: 'ci', hash }] } });
    const post = async (headers: Record<string, string>) => {
      const response = await fetch(`${service.url}/api/v1/checks`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ type, host: 'example.com' }),
      });
      return [response.status, ((await response.json()) as { message?: string }).message];
    };
    expect(await post(stranger)).toEqual([401, `a check of the type ${type} signs in to a server: it takes a token`]);
    expect(await post({})).toEqual([201, undefined]);
    expect(await post({ ...stranger, authorization: 'Bearer secret' })).toEqual([201, undefined]);
  },
);

test('a caller is told its limits, which is free; whoever may start nothing is told that', async () => {
  const rates = { per_client: { count: 10, perMs: 60_000 }, domain_per_client: { count: 5, perMs: 3_600_000 } };
  await using service = await start({ clock: new FakeClock(), rates, maxNodes: 7, access: { open: true } });
  const ask = async (headers: Record<string, string>) => fetch(`${service.url}/api/v1/limits`, { headers });
  await fetch(`${service.url}/check-tcp?host=192.88.98.1`, { headers: stranger });
  const [told] = await Promise.all([ask(stranger), ask(stranger)]);
  expect([told.status, ...rateHeaders(told), told.headers.get('cache-control')]).toEqual([
    200,
    '10',
    '7',
    '18',
    null,
    'no-store',
  ]);
  const body = ApiLimits.parse(await told.json());
  expect(body).toMatchObject({
    max_nodes: 7,
    checks: { limit: 10, window_seconds: 60, remaining: 7, reset_seconds: 18 },
    domain: { limit: 5, window_seconds: 3_600, remaining: 5, reset_seconds: 0 },
    per_target: { limit: 1_000_000, window_seconds: 1 },
  });
  expect(await (await ask({})).json()).toMatchObject({ checks: { remaining: 7 }, domain: null });
  await using shut = await start({});
  const refused = await fetch(`${shut.url}/api/v1/limits`, { headers: stranger });
  expect([refused.status, await refused.json()]).toEqual([401, expect.objectContaining({ error: 'unauthorized' })]);
});
