import { expect, test } from 'vitest';
import { checkOf, CheckSpec, type CheckTypeName, startableTypeNames } from '#checks/index.ts';
import { fakeNodes, places, startService, type TestServiceOptions } from '../../support/check-service.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { notUp, up } from '../../support/votes.ts';

// What a caller of /api/v1/checks says beside type and host: each key has its effect, or is refused.

const answering = () => fakeNodes(places.slice(0, 1), () => up(0.01, { address: '127.0.0.1' }));

async function serve(more: Partial<TestServiceOptions> = {}) {
  const transport = answering();
  const service = await startService({ transport, ...more });
  const post = async (body: object, headers: Readonly<Record<string, string>> = {}) => {
    const answer = await fetch(`${service.url}/api/v1/checks`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    return { status: answer.status, body: (await answer.json()) as Readonly<Record<string, unknown>> };
  };
  return { service, transport, post, [Symbol.asyncDispose]: async () => service[Symbol.asyncDispose]() };
}

const http = { type: 'http', host: '127.0.0.1' };

test.each<{ body: object; error: string; message: string }>([
  {
    body: { ...http, max_node: 1 },
    error: 'bad_request',
    message: 'max_node: unknown key (did you mean "max_nodes"?)',
  },
  {
    body: { ...http, method: 'HEAD' },
    error: 'bad_request',
    message: 'method: unknown key (did you mean "options.method"?)',
  },
  { body: { ...http, colour: 'red' }, error: 'bad_request', message: 'colour: unknown key; known here: type, host' },
  { body: { ...http, node: { a: 1 } }, error: 'bad_request', message: 'node: expected text' },
  { body: { ...http, host: ['127.0.0.1', '127.0.0.2'] }, error: 'bad_request', message: 'host: expected text' },
  { body: { ...http, type: ['http', 'tcp'] }, error: 'bad_request', message: 'type: expected text' },
  { body: { ...http, max_nodes: [1, 2] }, error: 'bad_request', message: 'max_nodes: expected a whole number' },
  { body: { ...http, max_nodes: 'many' }, error: 'bad_request', message: 'max_nodes: expected a whole number from 0' },
  { body: { ...http, options: [] }, error: 'invalid_option', message: 'options: expected a map of keys and values' },
  {
    body: { ...http, options: { methd: 'HEAD' } },
    error: 'invalid_option',
    message: 'options.methd: unknown key (did you mean "method"?)',
  },
  {
    body: { ...http, options: { method: 'head' } },
    error: 'invalid_option',
    message: 'options.method: expected "GET", "HEAD" or "OPTIONS" (did you mean "HEAD"?)',
  },
  {
    body: { ...http, options: { family: '4' } },
    error: 'invalid_option',
    message: 'options.family: expected 4, 6, "both" or "happy_eyeballs" (without quotes)',
  },
  {
    body: { type: 'postgres', host: '127.0.0.1', options: { username: 'a' } },
    error: 'invalid_option',
    message: 'options.username: is not available over the API; this type takes no options',
  },
  {
    body: { ...http, options: { method: 'POST' } },
    error: 'invalid_option',
    message: 'options.method: expected "GET"',
  },
  {
    body: { ...http, options: { body: 'x' } },
    error: 'invalid_option',
    message: 'options.body: is not available over the API; available: timeout, method',
  },
  {
    body: { ...http, options: { headers: { Authorization: 'Bearer x' } } },
    error: 'invalid_option',
    message: 'options.headers.Authorization: this header cannot be set over the API',
  },
  {
    body: { ...http, options: { expect: { body: { regex: 'a' } } } },
    error: 'invalid_option',
    message: 'options.expect.body.regex: unknown key; known here: contains, not_contains',
  },
  {
    body: { type: 'tcp', host: '127.0.0.1:25', options: { preset: 'ssh', starttls: true } },
    error: 'invalid_option',
    message: 'options.starttls: ssh has no such command',
  },
  {
    body: { type: 'tcp', host: '127.0.0.1:25', options: { tls: { ca: 'x' } } },
    error: 'invalid_option',
    message: 'options.tls.ca: unknown key',
  },
  {
    body: { type: 'tcp', host: '127.0.0.1:25', options: { send: 'EHLO' } },
    error: 'invalid_option',
    message: 'options.send: is not available over the API',
  },
  {
    body: { type: 'udp', host: '127.0.0.1:53', options: { send: 'x' } },
    error: 'invalid_option',
    message: 'options.send: expected "dns", "ntp" or "stun"',
  },
  {
    body: { type: 'dns', host: 'example.com', options: { recursion: false } },
    error: 'invalid_option',
    message: 'options.recursion: false needs a "resolver" over the API',
  },
  {
    body: { type: 'dns', host: 'example.com', options: { resolver: '224.0.0.1' } },
    error: 'forbidden_target',
    message: '224.0.0.1 may not be checked',
  },
  {
    body: { type: 'ping', host: '127.0.0.1', options: { count: 20 } },
    error: 'invalid_option',
    message: 'options.count: must be at most 10',
  },
])('$message', async ({ body, error, message }) => {
  await using served = await serve();
  const refused = await served.post(body);
  expect(refused).toEqual({
    status: error === 'forbidden_target' ? 403 : 400,
    body: { ok: 0, error, message: expect.stringContaining(message) },
  });
  expect(served.transport.commands).toEqual([]);
});

test('a form of the pages is taken as it was, and an unknown key in a query is refused too', async () => {
  await using served = await serve();
  const ask = async (query: string, body: string) =>
    (await fetch(`${served.service.url}/api/v1/checks${query}`, { method: 'POST', body: new URLSearchParams(body) }))
      .status;
  expect(await ask('', 'type=tcp&host=127.0.0.1&max_nodes=&node[]=de1')).toBe(201);
  expect(await ask('?nodes=de1', 'type=tcp&host=127.0.0.1')).toBe(400);
  expect(await ask('', 'type=tcp&host=127.0.0.1&nodes=')).toBe(400);
});

test.each([
  { query: '?host=127.0.0.1', body: 'type=tcp&host=127.0.0.2', name: 'host' },
  { query: '', body: 'type=tcp&type=ping&host=127.0.0.1', name: 'type' },
  { query: '?max_nodes=1', body: 'type=tcp&host=127.0.0.1&max_nodes=2', name: 'max_nodes' },
  { query: '?options={"timeout":"1s"}', body: 'type=tcp&host=127.0.0.1&options={"timeout":"2s"}', name: 'options' },
])('a second value of $name that contradicts the first is refused', async ({ query, body, name }) => {
  await using served = await serve();
  const url = `${served.service.url}/api/v1/checks`;
  const refused = await fetch(`${url}${query}`, { method: 'POST', body: new URLSearchParams(body) });
  expect([refused.status, await refused.json()]).toEqual([
    400,
    { ok: 0, error: 'bad_request', message: expect.stringContaining(`${name}: given twice, as `) },
  ]);
  const same = new URLSearchParams('type=tcp&host=127.0.0.1');
  expect((await fetch(`${url}?host=127.0.0.1`, { method: 'POST', body: same })).status).toBe(201);
});

const given: Readonly<Partial<Record<CheckTypeName, { readonly host: string; readonly options: readonly object[] }>>> =
  {
    ping: { host: '127.0.0.1', options: [{ count: 2, interval: '200ms', timeout: '1s', size: '100B', family: 4 }] },
    http: {
      host: 'http://127.0.0.1:80/a',
      options: [
        {
          timeout: '3s',
          method: 'HEAD',
          headers: { accept: 'text/plain' },
          family: 4,
          http2: 'never',
          tls: { server_name: 'a.example', verify: false },
          max_body: '1KiB',
          expect: { status: '200-299', headers: { server: { absent: true } }, body: { contains: 'ok' }, latency: '1s' },
        },
      ],
    },
    tcp: {
      host: '127.0.0.1:25',
      options: [
        { timeout: '3s', family: 4, tls: { verify: false }, preset: 'smtp', starttls: true },
        { tls: true, expect: { hex: '00' } },
      ],
    },
    dns: {
      host: 'example.com',
      options: [
        {
          record: 'MX',
          resolver: '127.0.0.1:53',
          protocol: 'tcp',
          recursion: false,
          timeout: '1s',
          expect: { MX: 'a' },
        },
        { resolver: '127.0.0.1', protocol: 'https', path: '/q', tls: { verify: false } },
      ],
    },
    udp: { host: '127.0.0.1:53', options: [{ timeout: '1s', tries: 1, send: 'dns', expect: 'a', silence: 'up' }] },
    tls: {
      host: '127.0.0.1:443',
      options: [
        { timeout: '1s', family: 4, starttls: 'smtp', server_name: 'a.example', min_version: 'TLSv1.3', verify: false },
        { expect: { valid_for: '3d', fingerprint: 'ab'.repeat(32) } },
      ],
    },
    websocket: {
      host: 'ws://127.0.0.1:80',
      options: [{ timeout: '1s', family: 4, protocol: 'a', expect: 'a', tls: {} }],
    },
    grpc: { host: '127.0.0.1:50051', options: [{ timeout: '1s', family: 4, health_of: 'a.B', tls: true }] },
    postgres: { host: '127.0.0.1:5432', options: [] },
    mysql: { host: '127.0.0.1:3306', options: [] },
    redis: { host: '127.0.0.1:6379', options: [] },
    mongodb: { host: '127.0.0.1:27017', options: [] },
    mqtt: { host: '127.0.0.1:1883', options: [] },
    amqp: { host: '127.0.0.1:5672', options: [] },
    ssh: { host: '127.0.0.1:22', options: [] },
    domain: { host: 'example.com', options: [{ timeout: '1s', expect: { valid_for: '30d' } }] },
    traceroute: {
      host: '127.0.0.1',
      options: [{ protocol: 'tcp', port: 443, timeout: '2s', names: true, family: 4 }],
    },
    mtr: {
      host: '127.0.0.1',
      options: [{ protocol: 'udp', port: 53, packets: 3, interval: '200ms', timeout: '2s', names: true, family: 4 }],
    },
  };

test.each(startableTypeNames)(
  '%s: every option that it takes reaches the nodes, also by "Check again"',
  async (type) => {
    const { host = '', options = [] } = given[type] ?? {};
    const { apiOptions, overApi } = checkOf(type);
    expect(new Set(options.flatMap((one) => Object.keys(one)))).toEqual(new Set(Object.keys(apiOptions.shape)));
    const refusing = fakeNodes(places.slice(0, 1), () => notUp('refused', 'target'));
    await using served = await serve({ transport: refusing, access: { allowPrivate: true } });
    const { service } = served;
    for (const one of options) {
      const { status, body } = await served.post({ type, host, options: one });
      expect([status, body['message']]).toEqual([201, undefined]);
      const sent = CheckSpec.parse({ type, host, ...overApi, ...one });
      expect(refusing.commands.at(-1)?.command.spec).toEqual(sent);
      // Headers may be secret, and the link is not.
      const shown = 'headers' in one ? { ...sent, headers: {} } : sent;
      expect(service.checks.find(String(body['id']))?.spec).toEqual(shown);
      expect(service.store.checks.findRun(String(body['id']))?.spec).toEqual(shown);
      const again = new URLSearchParams(await formOf(`${service.url}/check-report/${String(body['id'])}`));
      const answer = await fetch(`${service.url}/api/v1/checks`, { method: 'POST', body: again });
      expect([answer.status, ((await answer.json()) as { message?: string }).message]).toEqual([201, undefined]);
      expect(refusing.commands.at(-1)?.command.spec).toEqual(shown);
    }
  },
);

/** What "Check again" on a report sends. */
async function formOf(url: string): Promise<[string, string][]> {
  const page = await (await fetch(url, { headers: { accept: 'text/html' } })).text();
  const [form = ''] = /<form method="post" action="\/api\/v1\/checks">.*?<\/form>/s.exec(page) ?? [];
  return [...form.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [
    name,
    value.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'),
  ]);
}

test.each([
  { body: '{"type":"tcp","host":"127.0.0.1"}', message: 'send the header "Content-Type: application/json"' },
  { body: 'host=127.0.0.1', message: 'type is missing: use one of ping, http' },
  { body: 'type=http&host=127.0.0.1&options.method=HEAD', message: '{"method": ...} under "options"' },
  { body: 'type=http&host=127.0.0.1&options[method]=HEAD', message: '{"method": ...} under "options"' },
])('a start as curl -d sends it, $body, is told: $message', async ({ body, message }) => {
  await using served = await serve();
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const answer = await fetch(`${served.service.url}/api/v1/checks`, { method: 'POST', headers, body });
  expect([answer.status, await answer.json()]).toEqual([
    400,
    expect.objectContaining({ message: expect.stringContaining(message) }),
  ]);
});

test('options in a form are a JSON object', async () => {
  await using served = await serve();
  const ask = async (options: string) => {
    const body = new URLSearchParams({ type: 'http', host: '127.0.0.1', options });
    const answer = await fetch(`${served.service.url}/api/v1/checks`, { method: 'POST', body });
    return [answer.status, ((await answer.json()) as { message?: string }).message];
  };
  expect(await ask('{"method":"HEAD"}')).toEqual([201, undefined]);
  expect(await ask('method=HEAD')).toEqual([400, 'options: expected a map of keys and values']);
  expect(await ask('{"method":"POST"}')).toEqual([400, expect.stringContaining('options.method: expected "GET"')]);
});

test.each(startableTypeNames)('%s: without options a check is the same as before there were any', (type) => {
  const { apiOptions, overApi } = checkOf(type);
  const spec: Readonly<Record<string, unknown>> = CheckSpec.parse({ type, host: given[type]?.host ?? '', ...overApi });
  for (const [key, value] of Object.entries(apiOptions.parse({}))) expect([key, value]).toEqual([key, spec[key]]);
});

test('the name server that a caller names pays as a target does, under whatever name', async () => {
  const lookup = async (name: string) => (name === 'ns.destination.example' ? ['198.51.99.1'] : []);
  await using served = await serve({
    clock: new FakeClock(),
    rates: { per_target: { count: 2, perMs: 60_000 } },
    lookup,
    access: { open: true },
  });
  const ask = async (host: string, resolver: string) =>
    (await served.post({ type: 'dns', host, options: { resolver } })).status;
  expect(await ask('a.example', 'ns.destination.example')).toBe(201);
  expect(await ask('b.example', '198.51.99.1')).toBe(201);
  expect(await ask('c.example', '198.51.99.1')).toBe(429);
  expect(await ask('c.example', '198.51.99.2')).toBe(201);
});

test.each(['plugin', 'docker', 'systemd', 'flow'])('%s is for targets only', async (type) => {
  await using server = await serve();
  const { status, body } = await server.post({ type, host: 'a.example' });
  expect([status, body['error']]).toEqual([400, 'invalid_type']);
  expect(body['message']).toContain(`checks of the type ${type} are for configured targets only: use one of ping, `);
  expect(startableTypeNames).not.toContain(type);
});
