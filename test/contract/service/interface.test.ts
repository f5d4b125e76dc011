import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { interfaceTypeNames } from '#checks/index.ts';
import { CheckResult, CheckResultExtended, CheckStarted, NodeList } from '#protocol/shapes.ts';
import { fromWire } from '#protocol/wire.ts';
import { startService, type TestService, threadNodes } from '../../support/check-service.ts';
import { serveHttp, type TestServer } from '../../support/http-servers.ts';
import { checkRequest, extendedOf, nodeDescriptor, nodeId, nodeList, resultOf, rows } from '../../support/interface.ts';
import { eventually } from '../../support/program.ts';
import { closedPort } from '../../support/tcp-servers.ts';

// The interface, section by section, over HTTP with real nodes. With CHECK_SERVICE_URL set to the base URL of a service on
// this machine, it is that service which is tested; it must let callers on this machine check loopback addresses.

let own: TestService | null = null;
let base = '';
let web: TestServer;
let udp: ReturnType<typeof createSocket>;
// A ping takes its time: one does for all tests.
let pinged: CheckStarted;
let firstPoll: CheckResult;

beforeAll(async () => {
  const elsewhere = process.env['CHECK_SERVICE_URL'];
  if (elsewhere === undefined) own = await startService({ transport: await threadNodes() });
  base = (elsewhere ?? own?.url ?? '').replace(/\/$/, '');
  web = await serveHttp((request, response) => {
    response.statusCode = request.url === '/missing' ? 404 : 200;
    response.end('hello');
  });
  udp = createSocket('udp4').bind(0, '127.0.0.1');
  await once(udp, 'listening');
  udp.on('message', (message, from) => udp.send(message, from.port, from.address));
  pinged = await start('ping', '127.0.0.1');
  firstPoll = await result('ping', pinged.request_id);
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
  await web[Symbol.asyncDispose]();
  udp.close();
});

type Type = keyof typeof rows;

/** Asks as section 4 says, and parses what comes by the program's own schema and by the interface's text. */
async function ask<Shape>(path: string, ours: z.ZodType<Shape>, text: z.ZodType): Promise<Shape> {
  const answer = await fetch(`${base}${path}`, { headers: { accept: 'application/json' } });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toMatch(/^application\/json\b/);
  const body: unknown = await answer.json();
  expect(text.parse(body)).toEqual(body);
  return ours.parse(body);
}

const start = async (type: string, host: string, more = '') =>
  ask(`/check-${type}?host=${encodeURIComponent(host)}${more}`, CheckStarted, checkRequest);
const result = async (type: Type, id: string) => ask(`/check-result/${id}`, CheckResult, resultOf(type));

/** Polls until every node is finished, as section 4.2 allows, and gives the rows. */
async function finished(type: Type, id: string): Promise<readonly unknown[]> {
  return eventually(30_000, async () => {
    const rows = Object.values(await result(type, id));
    expect(rows).not.toContain(null);
    return rows;
  });
}

async function rowsOf(type: Type, host: string): Promise<readonly unknown[]> {
  const { request_id: id } = await start(type, host);
  return finished(type, id);
}

const target = () => `127.0.0.1:${web.port}`;

describe('1 and 4.1: a check', () => {
  test.each(interfaceTypeNames)('%s is started, and answers with a check request', async (type) => {
    const started = await start(type, target());
    expect(started.ok).toBe(1);
    expect(Object.keys(started.nodes).length).toBeGreaterThan(0);
  });

  test.each(['localhost', 'http://127.0.0.1', '127.0.0.1:80', 'http://127.0.0.1:80', '127.0.0.1'])(
    'takes %s as a host',
    async (host) => {
      await start('tcp', host);
    },
  );

  test('max_nodes bounds the nodes, and without it all take part', async () => {
    const all = Object.keys((await ask('/nodes/hosts', NodeList, nodeList)).nodes);
    expect(Object.keys((await start('tcp', target())).nodes)).toHaveLength(all.length);
    expect(Object.keys((await start('tcp', target(), '&max_nodes=1')).nodes)).toHaveLength(1);
    expect(Object.keys((await start('tcp', target(), '&max_nodes=0')).nodes)).toHaveLength(all.length);
    expect(Object.keys((await start('tcp', target(), '&max_nodes=100000')).nodes)).toHaveLength(all.length);
  });

  test('node selects exactly the nodes that it names', async () => {
    const all = Object.keys((await ask('/nodes/hosts', NodeList, nodeList)).nodes);
    const chosen = [all.at(-1) ?? '', all[0] ?? ''];
    const query = chosen.map((id) => `&node=${id}`).join('');
    const { nodes, request_id: id } = await start('tcp', target(), query);
    expect(new Set(Object.keys(nodes))).toEqual(new Set(chosen));
    expect(Object.keys(await result('tcp', id))).toEqual(Object.keys(nodes));
  });
});

test('2.1 and 2.3: every node has an identifier and a descriptor of five strings that agrees with the node list', async () => {
  const { nodes } = await ask('/nodes/hosts', NodeList, nodeList);
  for (const [id, descriptor] of Object.entries((await start('tcp', target())).nodes)) {
    nodeId.parse(id);
    const [code, country, city, ip, asn] = nodeDescriptor.parse(descriptor);
    expect(nodes[id]).toEqual({ asn, ip, location: [code, country, city] });
  }
});

test('2.2: the permanent link is the report of the request identifier', async () => {
  const { permanent_link: link, request_id: id } = await start('tcp', target());
  expect(link).toBe(`${base}/check-report/${id}`);
});

test('2.5 and 3: every node has a key from the first poll on: null while it works, then an array', async () => {
  const { request_id: id, nodes } = pinged;
  expect(Object.keys(firstPoll)).toEqual(Object.keys(nodes));
  for (const row of Object.values(firstPoll)) expect(row === null || Array.isArray(row)).toBe(true);
  for (const row of await finished('ping', id)) expect(Array.isArray(row)).toBe(true);
});

test.each([
  { type: 'http', host: (port: number) => `127.0.0.1:${port}`, recorded: (port: number) => `http://127.0.0.1:${port}` },
  { type: 'tcp', host: (port: number) => `127.0.0.1:${port}`, recorded: (port: number) => `127.0.0.1:${port}` },
  { type: 'udp', host: (port: number) => `127.0.0.1:${port}`, recorded: (port: number) => `127.0.0.1:${port}` },
  { type: 'ping', host: (port: number) => `http://127.0.0.1:${port}/`, recorded: () => '127.0.0.1' },
  { type: 'dns', host: () => 'http://localhost', recorded: () => 'localhost' },
] as const)(
  '2.6 and 4.3: the extended result of $type has its command, time and host',
  async ({ type, host, recorded }) => {
    const before = Math.floor(Date.now() / 1_000);
    const { request_id: id } = await start(type, host(web.port));
    const extended = await ask(`/check-result-extended/${id}`, CheckResultExtended, extendedOf(type));
    expect(extended).toMatchObject({ command: type, host: recorded(web.port) });
    expect(extended.created).toBeGreaterThanOrEqual(before);
    expect(extended.created).toBeLessThanOrEqual(Math.ceil(Date.now() / 1_000));
    expect(Object.keys(extended.results)).toEqual(Object.keys(await result(type, id)));
  },
);

describe('2.7: the rows', () => {
  test('ping: four attempts, the address on an OK one, or a node that cannot ping says so', async () => {
    for (const row of await finished('ping', pinged.request_id)) {
      const told = rows.ping.parse(row);
      if (told[0] === null) continue;
      expect(told[0]).toHaveLength(4);
      expect(told[0][0]).toEqual(['OK', expect.any(Number), '127.0.0.1']);
    }
  });

  test('http: a page that loads', async () => {
    expect(await rowsOf('http', `http://${target()}/`)).toContainEqual([
      [1, expect.any(Number), 'OK', '200', '127.0.0.1'],
    ]);
  });

  test('http: 404 is a failure with its reason, code and address', async () => {
    expect(await rowsOf('http', `http://${target()}/missing`)).toContainEqual([
      [0, expect.any(Number), 'Not Found', '404', '127.0.0.1'],
    ]);
  });

  test('http: a network error has its text, and neither code nor address', async () => {
    expect(await rowsOf('http', `127.0.0.1:${await closedPort()}`)).toContainEqual([
      [0, expect.any(Number), expect.stringMatching(/refused/i), null, null],
    ]);
  });

  test('tcp: success has a time and an address', async () => {
    expect(await rowsOf('tcp', target())).toContainEqual([{ time: expect.any(Number), address: '127.0.0.1' }]);
  });

  test('tcp: failure has an error and no time', async () => {
    const [row] = await rowsOf('tcp', `127.0.0.1:${await closedPort()}`);
    expect(row).toEqual([expect.objectContaining({ error: expect.stringMatching(/refused/i) })]);
    expect(row).not.toEqual([expect.objectContaining({ time: expect.anything() })]);
  });

  test('dns: addresses and their time to live', async () => {
    for (const row of await rowsOf('dns', 'localhost')) rows.dns.parse(row);
  });

  test('udp: a port that answers, and one that is closed', async () => {
    const answered = await rowsOf('udp', `127.0.0.1:${udp.address().port}`);
    expect(answered).toContainEqual([{ address: '127.0.0.1', time: expect.any(Number), timeout: 0 }]);
    const closed = await rowsOf('udp', `127.0.0.1:${await closedPort()}`);
    expect(closed).toContainEqual([expect.objectContaining({ error: expect.stringMatching(/refused/i) })]);
  });

  test.each(interfaceTypeNames)('%s: what is sent is read back', async (type) => {
    const found = type === 'ping' ? finished(type, pinged.request_id) : rowsOf(type, target());
    for (const row of await found) {
      const outcome = fromWire(row, type);
      expect(outcome?.status === 'unknown' ? outcome.failure.message : '').not.toContain('unreadable');
    }
  });
});

test('4.4: both paths list the nodes', async () => {
  const hosts = await ask('/nodes/hosts', NodeList, nodeList);
  expect(await ask('/nodes/ips', NodeList, nodeList)).toEqual(hosts);
  expect(Object.keys(hosts.nodes).length).toBeGreaterThan(0);
});

test('4.5: the permanent link is a page for browsers and data for programs', async () => {
  const { permanent_link: link, request_id: id } = await start('tcp', target());
  await finished('tcp', id);
  const page = await fetch(link, { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } });
  expect(page.headers.get('content-type')).toMatch(/^text\/html\b/);
  expect(await page.text()).toContain(target());
  await ask(new URL(link).pathname, CheckResultExtended, extendedOf('tcp'));
});
