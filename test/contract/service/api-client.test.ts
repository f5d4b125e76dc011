import { expect, test } from 'vitest';
import type { z } from 'zod';
import { createCheckServiceClient } from '#api-client/client.ts';
import type { CallerLimits, CheckRequest, CheckState, KnownCheckKind, NodeHealth } from '#api-client/shapes.ts';
import { type Outcome, startableTypeNames } from '#checks/index.ts';
import { ApiCheck, ApiCheckRequest, ApiLimits, ApiNodeList } from '#protocol/version-one.ts';
import { fakeNodes, places, startService, waiting } from '../../support/check-service.ts';
import { closedPort } from '../../support/tcp-servers.ts';
import { notUp } from '../../support/votes.ts';

// The client that the package exports, against the service.

const request = { type: 'tcp', host: '127.0.0.1' } as const;
const down = notUp('refused', 'target');
const refusing = () => fakeNodes(places, () => down);

/** Nodes that answer when the test says so. */
function heldNodes() {
  const answers = new Map(places.map(({ name }) => [name, Promise.withResolvers<Outcome>()] as const));
  const transport = fakeNodes(places, async (name) => answers.get(name)?.promise ?? down);
  return { transport, answer: (name: string) => answers.get(name)?.resolve(down) };
}

test('starts a check and waits for it, in the shapes that the service declares', async () => {
  await using service = await startService({ transport: refusing() });
  const client = createCheckServiceClient({ url: `${service.url}/` });
  const check = await client.check({ ...request, node: ['de1', 'us1'] });
  expect(ApiCheck.parse(check)).toEqual(check);
  expect(check).toMatchObject({ state: 'finished', results: [{ outcome: down }, { outcome: down }] });
  expect(await client.get(check.id)).toEqual(check);
  const nodes = await client.nodes();
  expect(ApiNodeList.parse({ nodes })).toEqual({ nodes });
  const limits = await client.limits();
  expect(ApiLimits.parse(limits)).toEqual(limits);
});

test('gives each result as soon as it is there', async () => {
  const { transport, answer } = heldNodes();
  await using service = await startService({ transport });
  const client = createCheckServiceClient({ url: service.url });
  const { id, state } = await client.start(request);
  expect(state).toBe('running');
  const results = client.results(id);
  for (const name of ['us1', 'de1', 'de2']) {
    const next = results.next();
    answer(name);
    expect(await next).toMatchObject({ done: false, value: { node: { name }, outcome: down } });
  }
  expect(await results.next()).toEqual({ done: true, value: undefined });
});

test.each([
  { name: 'a forbidden target', request: { ...request, host: '224.0.0.1' }, code: 'forbidden_target', status: 403 },
  { name: 'an unknown option', request: { ...request, options: { a: 1 } }, code: 'invalid_option', status: 400 },
  { name: 'no such node', request: { ...request, node: ['fr1'] }, code: 'no_nodes', status: 422 },
])('a refusal has its code and its reason: $name', async ({ request: wrong, code, status }) => {
  await using service = await startService({ transport: refusing() });
  const client = createCheckServiceClient({ url: service.url });
  await expect(client.start(wrong)).rejects.toMatchObject({
    name: 'CheckServiceError',
    code,
    status,
    message: expect.stringMatching(/\w+ \w+/),
    retryAfterSeconds: null,
  });
});

test('a limit says when to come back, an unknown check and a wrong token are errors', async () => {
  const rates = { per_client: { count: 3, perMs: 1_000_000 } };
  await using service = await startService({ transport: refusing(), rates });
  const client = createCheckServiceClient({ url: service.url });
  await client.check(request);
  await expect(client.start(request)).rejects.toMatchObject({
    code: 'limit_exceeded',
    status: 429,
    retryAfterSeconds: expect.any(Number),
  });
  await expect(client.get('01234567890123456789')).rejects.toMatchObject({ code: 'not_found', status: 404 });
  await expect(client.finished('../nodes')).rejects.toMatchObject({ code: 'not_found', status: 404 });
  const wrong = createCheckServiceClient({ url: service.url, token: 'wrong' });
  await expect(wrong.limits()).rejects.toMatchObject({ code: 'unauthorized', status: 401 });
});

test('waiting ends by its limit and by the signal', async () => {
  await using service = await startService({ transport: fakeNodes(places, waiting) });
  const client = createCheckServiceClient({ url: service.url });
  const { id } = await client.start(request);
  await expect(client.finished(id, { withinMs: 300 })).rejects.toMatchObject({ code: 'timeout', status: null });
  const controller = new AbortController();
  const results = client.results(id, { signal: controller.signal }).next();
  const reason = new Error('the page was left');
  controller.abort(reason);
  await expect(results).rejects.toBe(reason);
  await expect(client.nodes({ signal: controller.signal })).rejects.toBe(reason);
});

test('a service that is away is an error of a call, and waiting goes on until it is back', async () => {
  await using service = await startService({ transport: refusing() });
  const away = createCheckServiceClient({ url: `http://127.0.0.1:${await closedPort()}` });
  await expect(away.start(request)).rejects.toMatchObject({ code: 'unreachable', cause: expect.anything() });
  let calls = 0;
  const client = createCheckServiceClient({
    url: service.url,
    fetch: async (...args) => {
      calls += 1;
      if (calls === 2) throw new TypeError('fetch failed');
      return fetch(...args);
    },
  });
  const { state } = await client.check(request);
  expect([state, calls >= 3]).toEqual(['finished', true]);
});

test('a check ends by its limit also while it is started', async () => {
  const stuck = createCheckServiceClient({
    url: 'http://a',
    fetch: async (_, init) =>
      new Promise((_resolve, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason))),
  });
  await expect(stuck.check(request, { withinMs: 100 })).rejects.toMatchObject({
    code: 'timeout',
    message: 'the check did not finish within 0.1 s',
  });
});

test('a redirect is an error that names where it leads, and waiting does not go on', async () => {
  const client = createCheckServiceClient({
    url: 'http://a',
    fetch: async () => new Response(null, { status: 301, headers: { location: 'https://a/' } }),
  });
  for (const call of [client.nodes(), client.finished('abc')])
    await expect(call).rejects.toMatchObject({
      code: 'invalid_answer',
      status: 301,
      message: 'http://a redirects to https://a/: name the address of the service itself',
    });
});

test('a proxy that says when to come back is heard, and why the service is not reached is said', async () => {
  const headers = { 'retry-after': '7' };
  const busy = createCheckServiceClient({
    url: 'http://a',
    fetch: async () => new Response('<html>', { status: 503, headers }),
  });
  await expect(busy.nodes()).rejects.toMatchObject({ code: 'invalid_answer', retryAfterSeconds: 7 });
  const port = await closedPort();
  const away = createCheckServiceClient({ url: `http://127.0.0.1:${port}` });
  await expect(away.nodes()).rejects.toMatchObject({ message: expect.stringContaining('ECONNREFUSED') });
  const broken = createCheckServiceClient({ url: 'http://a', token: 'secret\nsecret' });
  await expect(broken.nodes()).rejects.toMatchObject({ code: 'unreachable', message: 'cannot reach http://a' });
});

test('what answers instead of the service is an error that says so', async () => {
  for (const [body, status] of [
    ['<html>', 200],
    ['{}', 200],
    ['null', 502],
  ] as const) {
    const client = createCheckServiceClient({ url: 'http://a', fetch: async () => new Response(body, { status }) });
    await expect(client.nodes()).rejects.toMatchObject({ code: 'invalid_answer' });
  }
});

test('the kinds of checks that the client names are those that the service starts', () => {
  const kinds: Readonly<Record<KnownCheckKind, true>> = {
    ping: true,
    http: true,
    tcp: true,
    dns: true,
    udp: true,
    tls: true,
    grpc: true,
    websocket: true,
    postgres: true,
    mysql: true,
    redis: true,
    mongodb: true,
    mqtt: true,
    amqp: true,
    ssh: true,
    domain: true,
    traceroute: true,
    mtr: true,
  };
  expect(Object.keys(kinds)).toEqual(startableTypeNames);
});

test('the types are those of the schemas', () => {
  // Compiled, that is the test: what the service sends is what the client declares, and what the client takes the service reads.
  const sent = (check: ApiCheck, limits: ApiLimits, list: z.infer<typeof ApiNodeList>): [CheckState, CallerLimits] => {
    const nodes: readonly NodeHealth[] = list.nodes;
    return [check satisfies CheckState, nodes.length > 0 ? limits : limits];
  };
  expect(sent).toBeTypeOf('function');
  const full: Required<CheckRequest> = {
    type: 'http',
    host: 'a',
    max_nodes: 1,
    node: ['de1'],
    location: ['country:DE', { country: 'DE', as: 3320, city: 'Berlin' }],
    options: { method: 'HEAD' },
  };
  expect(ApiCheckRequest.parse(full)).toMatchObject({ type: 'http', host: 'a', max_nodes: 1, node: ['de1'] });
});
