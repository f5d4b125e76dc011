import { expect, test } from 'vitest';
import { failed, failure, type FailureCode, interfaceTypeNames, type Outcome } from '#checks/index.ts';
import { systemClock } from '#kernel/clock.ts';
import { apiErrors, ErrorBody } from '#protocol/errors.ts';
import { CheckResult, CheckStarted, NodeAddresses, NodeList } from '#protocol/shapes.ts';
import { ApiCheck, ApiNodeList } from '#protocol/version-one.ts';
import { domain, fakeNodes, places, startService } from '../../support/check-service.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { eventually } from '../../support/program.ts';
import { up } from '../../support/votes.ts';

// What decisions add to the interface: errors, methods, negotiation, waiting, events, versions, the public service's ways.

const id = (name: string) => `${name}.node.${domain}`;
const tcpUp = (): Outcome => up(0.01, { address: '127.0.0.1' });
const page = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

async function bodyOf(answer: Response): Promise<unknown> {
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  return answer.json();
}

async function expectFailure(answer: Response, code: keyof typeof apiErrors, status: number = apiErrors[code].status) {
  expect(answer.status).toBe(status);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  const body = ErrorBody.parse(await bodyOf(answer));
  expect(body).toEqual({ ok: 0, error: code, message: expect.stringMatching(/\S/) });
  return body.message ?? '';
}

const started = async (answer: Response) => {
  expect(answer.status).toBe(200);
  return CheckStarted.parse(await bodyOf(answer));
};

test('the first poll has every node as null; each outcome comes as it comes; nodes keep their order', async () => {
  const settle = new Map<string, (outcome: Outcome) => void>();
  const transport = fakeNodes(places, async (node) => new Promise((resolve) => settle.set(node, resolve)));
  await using service = await startService({ transport });
  const { request_id: run, nodes } = await started(await fetch(`${service.url}/check-tcp?host=127.0.0.1:80`));
  expect(Object.keys(nodes)).toEqual([id('de1'), id('de2'), id('us1')]);
  const poll = async () => CheckResult.parse(await (await fetch(`${service.url}/check-result/${run}`)).json());
  expect(await poll()).toEqual({ [id('de1')]: null, [id('de2')]: null, [id('us1')]: null });
  settle.get('us1')?.(tcpUp());
  await fetch(`${service.url}/nodes/ips`);
  expect(await poll()).toEqual({
    [id('de1')]: null,
    [id('de2')]: null,
    [id('us1')]: [{ time: 0.01, address: '127.0.0.1' }],
  });
  settle.get('de1')?.(failed(failure('node', 'busy', 'busy')));
  settle.get('de2')?.(failed(failure('target', 'refused', 'connection refused'), { address: '127.0.0.1' }));
  const all = await fetch(`${service.url}/check-result/${run}?wait=5`);
  expect(await all.json()).toEqual({
    [id('de1')]: [null, { message: 'busy' }],
    [id('de2')]: [{ error: 'connection refused', address: '127.0.0.1' }],
    [id('us1')]: [{ time: 0.01, address: '127.0.0.1' }],
  });
});

test('a name that no node could resolve is a row of each type, not an error of the call', async () => {
  const unresolved = failed(failure('target', 'name_not_found', 'the name does not exist'));
  await using service = await startService({ transport: fakeNodes(places.slice(0, 1), () => unresolved) });
  const found: Record<string, unknown> = {};
  for (const type of interfaceTypeNames) {
    const run = await started(await fetch(`${service.url}/check-${type}?host=no.such.name`));
    const result = await (await fetch(`${service.url}/check-result/${run.request_id}?wait=5`)).json();
    found[type] = Object.values(result as object)[0];
  }
  const error = 'the name does not exist';
  expect(found).toEqual({
    ping: [[null]],
    http: [[0, 0, error, null, null]],
    tcp: [{ error }],
    dns: [{ A: [], AAAA: [], TTL: null }],
    udp: [{ error }],
  });
});

test('every failure is a JSON body of the table with its status', async () => {
  const transport = fakeNodes(places, tcpUp);
  await using service = await startService({ transport });
  const get = async (path: string, init?: RequestInit) => fetch(`${service.url}${path}`, init);
  await expectFailure(await get('/check-tcp'), 'invalid_host');
  await expectFailure(await get('/check-tcp?host='), 'invalid_host');
  expect(await expectFailure(await get('/check-tcp?host=a:99999'), 'invalid_host')).toContain('port');
  await expectFailure(await get('/check-icmp?host=127.0.0.1'), 'invalid_type');
  expect(await expectFailure(await get('/check-tls?host=127.0.0.1'), 'invalid_type')).toContain('POST /api/v1/checks');
  await expectFailure(await get('/check-tcp?host=127.0.0.1&node=nonsense!'), 'invalid_node');
  expect(await expectFailure(await get('/check-tcp?host=127.0.0.1&node=fr1'), 'no_nodes')).toContain(
    'online: fr1; see',
  );
  await expectFailure(await get(`/check-tcp?host=127.0.0.1&node=${id('fr1')}`), 'no_nodes');
  await expectFailure(await get('/check-tcp?host=224.0.0.1'), 'forbidden_target');
  await expectFailure(await get('/check-result/01234567890123456789'), 'not_found');
  await expectFailure(await get('/check-result/short'), 'not_found');
  await expectFailure(await get('/check-result'), 'not_found');
  await expectFailure(await get('/check-result-extended/01234567890123456789'), 'not_found');
  await expectFailure(await get('/check-report/01234567890123456789'), 'not_found');
  const lost = await get('/check-report/01234567890123456789', { headers: page });
  expect([lost.status, lost.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
  expect(await lost.text()).toContain('Page not found');
  const wrong = await get('/check-tcp?host=%3Cscript%3E', { headers: page });
  expect([wrong.status, /<script>/.test(await wrong.text())]).toEqual([400, false]);
  await expectFailure(await get('/check-result/01234567890123456789/events'), 'not_found');
  await expectFailure(await get('/api/v1/checks/01234567890123456789'), 'not_found');
  await expectFailure(
    await get('/check-tcp', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{' }),
    'bad_request',
  );
  const unlabelled = { method: 'POST', headers: { 'content-type': 'text/plain' }, body: '{"host":"127.0.0.1"}' };
  expect(await expectFailure(await get('/check-tcp', unlabelled), 'bad_request')).toContain('application/json');
  await expectFailure(
    await get('/check-tcp', { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'x'.repeat(100_000) }),
    'too_large',
  );
  const head = await get('/check-tcp?host=127.0.0.1', { method: 'HEAD' });
  expect([head.status, head.headers.get('allow')]).toEqual([405, 'GET, POST']);
  for (const method of ['PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
    for (const path of ['/check-tcp?host=127.0.0.1', '/check-result/01234567890123456789', '/nodes/ips']) {
      await expectFailure(await get(path, { method }), 'method_not_allowed');
    }
    await expectFailure(await get('/api/v1/checks', { method }), 'method_not_allowed');
  }
  expect((await get('/api/v1/checks', { method: 'DELETE' })).headers.get('allow')).toBe('POST');
  for (const { name } of places) transport.offline.add(name);
  await expectFailure(await get('/check-tcp?host=127.0.0.1'), 'no_nodes', 503);
  expect(transport.commands).toEqual([]);
});

const json = { 'content-type': 'application/json' };
const chunked = () =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      for (const part of ['host=127.0.0.1', '%3A80&no', 'de=de1&node=us1']) controller.enqueue(Buffer.from(part));
      controller.close();
    },
  });
const multipart = new FormData();
for (const [key, value] of [
  ['host', '127.0.0.1:80'],
  ['node', 'de1'],
  ['node', id('us1')],
] as const)
  multipart.append(key, value);

test.each<{ name: string; query?: string; init: RequestInit & { duplex?: 'half' } }>([
  { name: 'a query and no body', query: '?host=127.0.0.1:80&node=de1&node=us1', init: {} },
  { name: 'a form', init: { body: new URLSearchParams('host=127.0.0.1:80&node=de1&node=us1') } },
  {
    name: 'a form in chunks',
    init: { body: chunked(), duplex: 'half', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
  },
  {
    name: 'a form of no known content type',
    init: { body: 'host=127.0.0.1:80&node=de1&node=us1', headers: { 'content-type': 'application/octet-stream' } },
  },
  { name: 'a multipart form', init: { body: multipart } },
  { name: 'JSON', init: { body: '{"host":"127.0.0.1:80","node":["de1","us1"]}', headers: json } },
  { name: 'a list as PHP writes it', query: '?host=127.0.0.1:80&node[]=de1&node[]=us1', init: {} },
  { name: 'a list with numbers', query: '?host=127.0.0.1:80&node%5B0%5D=de1&node%5B1%5D=us1', init: {} },
  { name: 'a form with a list', init: { body: new URLSearchParams('host=127.0.0.1:80&node[]=de1&node[]=us1') } },
  { name: 'half of it in the query', query: '?host=127.0.0.1:80', init: { body: 'node=de1&node=us1' } },
])('POST with $name answers as GET does', async ({ query = '', init }) => {
  const transport = fakeNodes(places, tcpUp);
  await using service = await startService({ transport });
  const answer = await started(await fetch(`${service.url}/check-tcp${query}`, { method: 'POST', ...init }));
  expect(Object.keys(answer.nodes)).toEqual([id('de1'), id('us1')]);
  expect(transport.commands[0]?.command.spec.host).toBe('127.0.0.1:80');
  const result = await fetch(`${service.url}/check-result/${answer.request_id}?wait=5`, { method: 'POST' });
  expect(Object.keys(CheckResult.parse(await bodyOf(result)))).toEqual([id('de1'), id('us1')]);
});

test('max_nodes spreads over countries, and anything but a number means all', async () => {
  await using service = await startService({ transport: fakeNodes(places, tcpUp), maxNodes: 2 });
  const nodes = async (more: string) =>
    Object.keys((await started(await fetch(`${service.url}/check-tcp?host=127.0.0.1${more}`))).nodes);
  for (let count = 0; count < 5; count += 1) {
    expect([
      [id('de1'), id('us1')],
      [id('de2'), id('us1')],
    ]).toContainEqual(await nodes('&max_nodes=2'));
  }
  expect(await nodes('&max_nodes=1')).toHaveLength(1);
  for (const all of ['', '&max_nodes=', '&max_nodes=0', '&max_nodes=many', '&max_nodes=-1', '&max_nodes=1e9']) {
    expect(await nodes(all)).toHaveLength(2);
  }
  expect(await nodes(`&max_nodes=2&node=${id('de2')}`)).toEqual([id('de2')]);
  expect(await nodes(`&node=DE2&node=fr1.node.elsewhere.example`)).toEqual([id('de2')]);
});

test('a node that is offline is neither listed nor asked', async () => {
  const transport = fakeNodes(places, tcpUp);
  await using service = await startService({ transport });
  transport.offline.add('de1');
  const { nodes } = NodeList.parse(await bodyOf(await fetch(`${service.url}/nodes/hosts`)));
  expect(Object.keys(nodes)).toEqual([id('de2'), id('us1')]);
  const answer = await started(await fetch(`${service.url}/check-tcp?host=127.0.0.1&node=de1&node=de2`));
  expect(Object.keys(answer.nodes)).toEqual([id('de2')]);
  const health = ApiNodeList.parse(await bodyOf(await fetch(`${service.url}/api/v1/nodes`)));
  expect(health.nodes[0]).toMatchObject({
    id: id('de1'),
    name: 'de1',
    online: false,
    reason: 'it is asleep at a private address',
  });
});

test('a browser that starts a check is sent to its report; everything else gets JSON', async () => {
  await using service = await startService({ transport: fakeNodes(places, tcpUp) });
  const get = async (accept: string, path: string) =>
    fetch(`${service.url}${path}`, { headers: { accept }, redirect: 'manual' });
  const sent = await get(page.accept, '/check-tcp?host=127.0.0.1');
  expect(sent.status).toBe(303);
  const link = sent.headers.get('location') ?? '';
  // Wherever the browser has its page from, it stays there, whatever address the service gives others.
  expect(link).toMatch(/^check-report\/[0-9A-Za-z]{20}$/);
  for (const accept of ['application/json', '*/*', 'application/json, text/html', 'text/plain', 'text/html;q=0']) {
    await started(await get(accept, '/check-tcp?host=127.0.0.1'));
    expect(await bodyOf(await get(accept, `/${link}`))).toHaveProperty('command', 'tcp');
  }
});

test('a browser that calls a path in a wrong way is told so by a page, with what is served', async () => {
  await using service = await startService({ transport: fakeNodes(places, tcpUp) });
  const answer = await fetch(`${service.url}/api/v1/checks`, { headers: page });
  expect([answer.status, answer.headers.get('allow'), answer.headers.get('content-type')]).toEqual([
    405,
    'POST',
    'text/html; charset=utf-8',
  ]);
  expect(await answer.text()).toContain('GET is not served here: use POST');
});

test('a report is a page that escapes what it shows, runs nothing from within, and without scripts reloads until all is done', async () => {
  const bad = '<script>alert("1")</script>';
  let finish: (outcome: Outcome) => void = () => {};
  const infos = [{ ...places[0]!, city: '<b>Berlin' }];
  const transport = fakeNodes(infos, async () => new Promise((resolve) => (finish = resolve)));
  await using service = await startService({ transport });
  const { permanent_link: link } = await started(
    await fetch(`${service.url}/check-http?host=http://127.0.0.1/%3Cb%3E`),
  );
  const before = await fetch(link, { headers: page });
  expect(before.headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; script-src 'self'; style-src 'self'; /,
  );
  expect(before.headers.get('content-security-policy')).not.toContain('unsafe');
  const text = await before.text();
  expect(text).toContain('<noscript><meta http-equiv="refresh"');
  expect(text).toContain('still working');
  finish(failed(failure('target', 'protocol', bad)));
  const after = await (await fetch(`${link}?wait=5`, { headers: page })).text();
  expect(after).not.toContain('http-equiv="refresh"');
  expect(after).toContain('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;');
  expect(after).toContain('&lt;b&gt;Berlin');
  expect(after).not.toMatch(/<script(?! (?:defer|type="module") src="\/assets\/)|\sstyle=|\son[a-z]+=/);
});

test('HEAD of what is read has the headers alone', async () => {
  await using service = await startService({ transport: fakeNodes(places, tcpUp) });
  const { request_id: run } = await started(await fetch(`${service.url}/check-tcp?host=127.0.0.1`));
  for (const path of [
    '/nodes/hosts',
    '/nodes/ips',
    `/check-result/${run}`,
    `/check-result-extended/${run}`,
    `/check-report/${run}`,
  ]) {
    const head = await fetch(`${service.url}${path}`, { method: 'HEAD' });
    expect([path, head.status, await head.text()]).toEqual([path, 200, '']);
    expect(head.headers.get('content-type')).toBe('application/json; charset=utf-8');
  }
});

test('a result has a version while it grows, and is immutable once it is whole', async () => {
  const settle: ((outcome: Outcome) => void)[] = [];
  const transport = fakeNodes(places.slice(0, 2), async () => new Promise((resolve) => settle.push(resolve)));
  await using service = await startService({ transport });
  const { request_id: run } = await started(await fetch(`${service.url}/check-tcp?host=127.0.0.1`));
  const read = async (etag?: string) =>
    fetch(`${service.url}/check-result/${run}`, etag === undefined ? {} : { headers: { 'if-none-match': etag } });
  const first = await read();
  const etag = first.headers.get('etag') ?? '';
  expect(first.headers.get('cache-control')).toBe('no-cache');
  expect((await read(etag)).status).toBe(304);
  settle[0]?.(tcpUp());
  await fetch(`${service.url}/nodes/ips`);
  expect((await read(etag)).status).toBe(200);
  settle[1]?.(tcpUp());
  const last = await fetch(`${service.url}/check-result/${run}?wait=5`);
  expect(last.headers.get('cache-control')).toBe('private, max-age=86400, immutable');
  expect((await read(`W/${last.headers.get('etag')}`)).status).toBe(304);
});

test('wait answers when the last node is done, and at the latest when it is up', async () => {
  const clock = new FakeClock();
  await using service = await startService({ transport: fakeNodes(places.slice(0, 1)), clock });
  const open = started(await fetch(`${service.url}/check-tcp?host=127.0.0.1`));
  const { request_id: run } = await open;
  const before = clock.pending;
  const waiting = fetch(`${service.url}/check-result/${run}?wait=2.5`);
  await eventually(30_000, () => expect(clock.pending).toBeGreaterThan(before));
  await clock.advance(2_600);
  expect(await (await waiting).json()).toEqual({ [id('de1')]: null });
  // The service never waits for a node for longer than its check may take.
  const patient = fetch(`${service.url}/check-result/${run}?wait=1000000`);
  await eventually(30_000, () => expect(clock.pending).toBeGreaterThan(before));
  await clock.advance(25_000);
  expect(await (await patient).json()).toEqual({
    [id('de1')]: [null, { message: expect.stringContaining('did not answer') }],
  });
});

test('a wait in the body of a POST holds too, and one that is no number of seconds is refused', async () => {
  const clock = new FakeClock();
  await using service = await startService({ transport: fakeNodes(places.slice(0, 1)), clock });
  const { request_id: run } = await started(await fetch(`${service.url}/check-tcp?host=127.0.0.1`));
  const url = `${service.url}/check-result/${run}`;
  const before = clock.pending;
  const waiting = fetch(url, { method: 'POST', body: new URLSearchParams('wait=2') });
  await eventually(30_000, () => expect(clock.pending).toBeGreaterThan(before));
  await clock.advance(2_100);
  expect(await (await waiting).json()).toEqual({ [id('de1')]: null });
  for (const wait of ['10s', '-1', 'long'])
    expect(await expectFailure(await fetch(`${url}?wait=${wait}`), 'bad_request')).toBe(
      `wait: expected seconds, such as 10 (got "${wait}")`,
    );
});

test('events tell each node once as it finishes, then that all is done', async () => {
  const settle = new Map<string, (outcome: Outcome) => void>();
  const transport = fakeNodes(places.slice(0, 2), async (node) => new Promise((resolve) => settle.set(node, resolve)));
  await using service = await startService({ transport });
  const { request_id: run } = await started(await fetch(`${service.url}/check-tcp?host=127.0.0.1`));
  const answer = await fetch(`${service.url}/check-result/${run}/events`);
  expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  settle.get('de2')?.(tcpUp());
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (!text.includes('de2')) text += (await reader.read()).value ?? '';
  settle.get('de1')?.(tcpUp());
  for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value;
  const events = text.split('\n\n').filter((one) => one.startsWith('event:'));
  const row = '[{"time":0.01,"address":"127.0.0.1"}]';
  expect(events).toEqual([
    `event: result\nid: 1\ndata: {"${id('de2')}":${row}}`,
    `event: result\nid: 0\ndata: {"${id('de1')}":${row}}`,
    'event: done\nid: done\ndata: {}',
  ]);
  const again = await fetch(`${service.url}/check-result/${run}/events`, { headers: { 'last-event-id': 'done' } });
  expect(again.status).toBe(204);
});

test('/api/v1 starts a check and shows whole outcomes', async () => {
  await using service = await startService({ transport: fakeNodes(places, tcpUp) });
  const detail = { timed_by: null, clock_seconds: null, answer: null, tls: null };
  const answer = await fetch(`${service.url}/api/v1/checks`, {
    method: 'POST',
    headers: json,
    body: JSON.stringify({ type: 'tcp', host: 'tcp://127.0.0.1:81', max_nodes: 1 }),
  });
  expect(answer.status).toBe(201);
  const check = await bodyOf(answer);
  expect(check).toMatchObject({ type: 'tcp', host: '127.0.0.1:81', port: '81', state: expect.any(String) });
  const read = await fetch(`${answer.headers.get('location')}?wait=5`);
  const finished = (await bodyOf(read)) as { results: { outcome: { detail: object } }[] };
  expect(finished).toMatchObject({
    state: 'finished',
    results: [{ node: { name: expect.any(String), city: expect.any(String) }, outcome: tcpUp() }],
  });
  Object.assign(finished.results[0]!.outcome.detail, detail);
  expect(ApiCheck.parse(finished)).toEqual(finished);
  await expectFailure(
    await fetch(`${service.url}/api/v1/checks`, { method: 'POST', body: 'host=127.0.0.1' }),
    'invalid_type',
  );
});

test('base_url is the configured address, else the host that the request names, else the connection', async () => {
  const links = async (headers: Record<string, string>, more: object = {}) => {
    await using service = await startService({ transport: fakeNodes(places, tcpUp), access: { open: true }, ...more });
    const answer = await started(await fetch(`${service.url}/check-tcp?host=192.88.98.1`, { headers }));
    return answer.permanent_link.replace(answer.request_id, 'id').replace(service.url, 'own');
  };
  const forwarded = { 'x-forwarded-host': 'status.example.com', 'x-forwarded-proto': 'https' };
  expect(await links({})).toBe('own/check-report/id');
  expect(await links(forwarded)).toBe('own/check-report/id');
  expect(await links(forwarded, { trustProxy: ['127.0.0.0/8'] })).toBe('https://status.example.com/check-report/id');
  expect(await links({ ...forwarded, 'x-forwarded-host': 'a"b' }, { trustProxy: ['127.0.0.1'] })).toContain(
    '127.0.0.1',
  );
  expect(await links({}, { publicUrl: 'https://checks.example.com/base' })).toBe(
    'https://checks.example.com/base/check-report/id',
  );
});

test('compat answers as the public service does', async () => {
  const attempts = ['TIMEOUT', 'OK'].map((status) => ({ status, seconds: 0.5, ttl: null, reason: null }));
  const outcome: Outcome = {
    ...up(0.5, { address: '127.0.0.1' }),
    detail: { attempts, duplicates: 0, timed_by: null },
  };
  const rates = { per_client: { count: 1, perMs: 60_000 } };
  const answers = async (compatible: boolean) => {
    await using service = await startService({
      transport: fakeNodes(places.slice(0, 1), () => outcome),
      compatible,
      rates,
    });
    const { request_id: run } = await started(await fetch(`${service.url}/check-ping?host=127.0.0.1`));
    return {
      row: Object.values(CheckResult.parse(await (await fetch(`${service.url}/check-result/${run}?wait=5`)).json()))[0],
      addresses: NodeAddresses.safeParse(await (await fetch(`${service.url}/nodes/ips`)).json()).data,
      hosts: await (await fetch(`${service.url}/nodes/hosts`)).json(),
      limited: await fetch(`${service.url}/check-ping?host=127.0.0.1`),
    };
  };
  const plain = await answers(false);
  const compatible = await answers(true);
  expect(plain.row).toEqual([
    [
      ['TIMEOUT', 0.5],
      ['OK', 0.5, '127.0.0.1'],
    ],
  ]);
  expect(compatible.row).toEqual([
    [
      ['TIMEOUT', 0.5, '127.0.0.1'],
      ['OK', 0.5],
    ],
  ]);
  expect([plain.addresses, compatible.addresses]).toEqual([undefined, { nodes: ['192.0.2.10'] }]);
  expect(compatible.hosts).toEqual(plain.hosts);
  await expectFailure(plain.limited, 'limit_exceeded', 429);
  await expectFailure(compatible.limited, 'limit_exceeded', 200);
});

const publicWords: readonly (readonly [FailureCode, string])[] = [
  ['timeout', 'Connection timed out'],
  ['refused', 'Connection refused'],
  ['name_not_found', 'No such device or address'],
];

test.each(publicWords)('compat says of a target that is %s: %s', async (code, words) => {
  const told = (): Outcome => failed(failure('target', code, 'words of our own'));
  const rowOf = async (type: string, compatible: boolean) => {
    await using service = await startService({ transport: fakeNodes(places.slice(0, 1), told), compatible });
    const { request_id: run } = await started(await fetch(`${service.url}/check-${type}?host=127.0.0.1:80`));
    return Object.values(CheckResult.parse(await (await fetch(`${service.url}/check-result/${run}?wait=5`)).json()))[0];
  };
  expect(await rowOf('http', true)).toEqual([[0, 0, words, null, null]]);
  expect(await rowOf('tcp', true)).toEqual([{ error: words }]);
  expect(await rowOf('udp', true)).toEqual([{ error: words }]);
  expect(await rowOf('tcp', false)).toEqual([{ error: 'words of our own' }]);
});

test('robots are kept from starting checks', async () => {
  await using service = await startService({ transport: fakeNodes() });
  expect(await (await fetch(`${service.url}/robots.txt`)).text()).toContain('Disallow: /check-');
});

test('a run with the most nodes that exist stays whole when the service is closed under it', async () => {
  const service = await startService({ transport: fakeNodes(places), clock: systemClock });
  const { request_id: run } = await started(await fetch(`${service.url}/check-tcp?host=127.0.0.1`));
  const waiting = fetch(`${service.url}/check-result/${run}?wait=20`);
  await fetch(`${service.url}/nodes/ips`);
  await service[Symbol.asyncDispose]();
  for (const row of Object.values(CheckResult.parse(await (await waiting).json()))) {
    expect(row).toEqual([null, { message: expect.stringContaining('stopped') }]);
  }
});
