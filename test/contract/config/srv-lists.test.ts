import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Answer } from 'dns-packet';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openConfigSource } from '#config/apply/config-source.ts';
import { askEachTime } from '#config/lists/listed-targets.ts';
import { loadConfig } from '#config/load.ts';
import { systemClock } from '#kernel/clock.ts';
import { commandHere } from '../../support/command.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { type Asked, type NameServer, nameServer } from '../../support/name-server.ts';
import { eventually } from '../../support/program.ts';

const service = '_http._tcp.example.com';

let folder = '';
let server: NameServer;
let handle: (asked: Asked) => void;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'watchpost-srv-'));
  handle = (asked) => asked.answer([srv('a.example.com', 8080)]);
  server = await nameServer((asked) => handle(asked));
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

function srv(target: string, port: number, priority = 10, weight = 60): Answer {
  return { type: 'SRV', name: service, ttl: 60, data: { target, port, priority, weight } };
}

async function put(more = '', at = '127.0.0.1', { port } = server): Promise<string> {
  const path = join(folder, 'watchpost.yaml');
  const entry = `{ srv: ${service}, ask: { server: "${at}:${port}" }, check: tcp${more} }`;
  await writeFile(path, `data: watchpost.db\ntargets_from: { shop: ${entry} }\n`);
  return path;
}

async function load(more = '') {
  return loadConfig({ path: await put(more), env: {}, readList: askEachTime(systemClock) });
}

/** The configuration as the daemon has it, over a clock of its own. */
async function source(more = '') {
  const clock = new FakeClock();
  const { log, lines } = memoryLog();
  const opened = openConfigSource({ path: await put(more), env: {}, clock, log });
  return {
    log: () => lines.map(({ msg }) => msg),
    names: async () => (await opened.load()).targets.map(({ name }) => name),
    print: async () => opened.fingerprint(),
    /** Lets a minute pass in which the list is asked again, and waits for what came of it. */
    async minute() {
      const { failures = 0, hadAt = null } = opened.lists()[0] ?? {};
      await clock.advance(60_000);
      await opened.fingerprint();
      await eventually(30_000, () => expect(opened.lists()[0]).not.toMatchObject({ failures, hadAt }));
    },
    [Symbol.dispose]: () => opened[Symbol.dispose](),
  };
}

test('targets come from SRV records, with priority and weight as labels', async () => {
  handle = (asked) => asked.answer([srv('B.example.com', 8081, 20, 0), srv('a.example.com', 8080)]);
  const config = await load(', labels: { team: web }, every: 30s');
  expect(config.targets).toMatchObject([
    {
      name: 'shop-a-example-com-8080',
      spec: { type: 'tcp', host: 'a.example.com:8080' },
      labels: { priority: '10', weight: '60', team: 'web' },
      schedule: { everyMs: 30_000 },
    },
    { name: 'shop-b-example-com-8081', labels: { priority: '20', weight: '0' } },
  ]);
  expect(config.lists).toEqual([
    { name: 'shop', shown: `SRV ${service} at 127.0.0.1:${server.port}`, targets: 2, trouble: null },
  ]);
  expect(server.queries.map(({ name, type }) => [name, type])).toEqual([[service, 'SRV']]);
});

test('a name server at an IPv6 address is asked', async () => {
  await using other = await nameServer((asked) => handle(asked), '::1');
  const path = await put('', '[::1]', other);
  const { targets, lists } = await loadConfig({ path, env: {}, readList: askEachTime(systemClock) });
  expect(targets).toHaveLength(1);
  expect(lists).toMatchObject([{ shown: `SRV ${service} at [::1]:${other.port}`, trouble: null }]);
});

test('an answer too long for a datagram is read over TCP', async () => {
  const many = Array.from({ length: 200 }, (_, index) => srv(`host-${index}.example.com`, 8080));
  handle = (asked) => (asked.protocol === 'tcp' ? asked.answer(many) : asked.answer([], { flags: 0x200 }));
  expect((await load()).targets).toHaveLength(200);
});

test('a target of "." is a service that does not exist, and no failure', async () => {
  handle = (asked) => asked.answer([srv('.', 0, 0, 0)]);
  expect((await load()).lists).toMatchObject([{ targets: 0, trouble: null }]);
});

test('new records are a change of the configuration, another order of the same ones is none', async () => {
  const both = [srv('a.example.com', 8080), srv('a.example.com', 8081), srv('b.example.com', 8080, 10, 70)];
  handle = (asked) => asked.answer(both);
  using daemon = await source();
  const names = await daemon.names();
  expect(names).toEqual(['shop-b-example-com-8080', 'shop-a-example-com-8080', 'shop-a-example-com-8081']);
  const before = await daemon.print();
  handle = (asked) => asked.answer(both.toReversed());
  await daemon.minute();
  expect(await daemon.print()).toBe(before);
  handle = (asked) => asked.answer([srv('c.example.com', 8080)]);
  await daemon.minute();
  expect(await daemon.print()).not.toBe(before);
  expect(await daemon.names()).toEqual(['shop-c-example-com-8080']);
  expect(daemon.log()).toEqual([]);
});

test.each<readonly [string, (asked: Asked) => void, RegExp]>([
  ['does not exist', (asked) => asked.answer([], { rcode: 3 }), /^the name _http\S+ does not exist$/],
  ['has no record', (asked) => asked.answer(), /^the name _http\S+ has no SRV record$/],
  ['cannot be looked up', (asked) => asked.answer([], { rcode: 2 }), /answers with an error \(ESERVFAIL\)$/],
  ['is refused', (asked) => asked.answer([], { rcode: 5 }), /answers with an error \(EREFUSED\)$/],
  ['gets an answer cut short', (asked) => asked.reply(Buffer.from([0, 1])), /does not answer|with an error/],
  ['gets no answer', () => {}, /^the name server does not answer$/],
])('a name that %s changes nothing, also after a restart', async (_, step, reason) => {
  {
    using daemon = await source();
    expect(await daemon.names()).toEqual(['shop-a-example-com-8080']);
    const before = await daemon.print();
    handle = step;
    await daemon.minute();
    await daemon.minute();
    expect(await daemon.print()).toBe(before);
    expect(await daemon.names()).toEqual(['shop-a-example-com-8080']);
    expect(daemon.log()).toEqual(['cannot fetch target list; keeping the last one']);
  }
  const { lists, targets } = await load();
  expect(lists).toMatchObject([{ targets: 1, trouble: expect.stringMatching(reason) }]);
  expect(targets).toMatchObject([{ labels: { priority: '10', weight: '60' } }]);
});

test('records that make no good configuration are not taken', async () => {
  using daemon = await source(', at_most: 1');
  const names = await daemon.names();
  for (const bad of [[srv('a', 1), srv('b', 1)], [srv('x y', 1)]]) {
    handle = (asked) => asked.answer(bad);
    await daemon.minute();
    expect(await daemon.names()).toEqual(names);
    expect(daemon.log().at(-1)).toBe('target list is not valid; keeping the last valid one');
  }
});

test('config check reports what the name server answered', async () => {
  const check = async () => commandHere(['config', 'check', '--config', await put()]);
  const shown = `SRV ${service} at 127.0.0.1:${server.port}`;
  const { code, err } = await check();
  expect(code).toBe(0);
  expect(err).toContain(`targets_from.shop: 1 target from ${shown}\n`);
  handle = (asked) => asked.answer([], { rcode: 3 });
  expect((await check()).err).toBe(
    `warning: targets_from.shop: ${shown}: the name ${service} does not exist; nothing is known of it\n`,
  );
  handle = (asked) => asked.answer([srv('x y', 1)]);
  expect(await check()).toMatchObject({ code: 2, err: expect.stringContaining(`${shown}:1:`) });
});

test.each([
  ['{ srv: example, check: tcp }', 'targets_from.shop.srv: expected the name of SRV records, such as'],
  ['{ srv: _x._tcp.a, url: "http://x/", check: tcp }', 'targets_from.shop.srv: cannot be set together with url'],
  ['{ srv: _x._tcp.a, files: a.json, check: tcp }', 'targets_from.shop.srv: cannot be set together with files'],
  ['{ srv: _x._tcp.a, ask: { headers: { a: b } }, check: tcp }', 'targets_from.shop.ask.headers: is for url only'],
  ['{ srv: _x._tcp.a, ask: { server: ns.example.com }, check: tcp }', 'targets_from.shop.ask.server: expected the add'],
  ['{ url: "http://x/", ask: { server: 127.0.0.1 }, check: tcp }', 'targets_from.shop.ask.server: is for srv only'],
])('a mistake is an error: %s', async (written, message) => {
  const path = join(folder, 'watchpost.yaml');
  await writeFile(path, `data: watchpost.db\ntargets_from: { shop: ${written} }\n`);
  const readList = async () => ({ text: null, trouble: null });
  await expect(loadConfig({ path, env: {}, readList })).rejects.toThrow(message);
});
