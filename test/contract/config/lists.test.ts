import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openConfigSource } from '#config/apply/config-source.ts';
import { askEachTime } from '#config/lists/listed-targets.ts';
import { loadConfig } from '#config/load.ts';
import { systemClock } from '#kernel/clock.ts';
import { issue, issueAuthority } from '../../support/certificates.ts';
import { commandHere } from '../../support/command.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { type Sink, startSink, type Step } from '../../support/http-sink.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { eventually } from '../../support/program.ts';

let folder = '';
let sink: Sink;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'watchpost-lists-'));
  sink = await startSink(() => lists('a.example.com:22'));
});
afterEach(async () => {
  await sink[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const said = (body: string): Step => ({ status: 200, headers: { 'content-type': 'application/json' }, body });
const lists = (...targets: readonly string[]) =>
  said(JSON.stringify([{ targets, labels: { team: 'web', __meta_zone: 'a' } }]));

async function put(name: string, text: string): Promise<string> {
  await writeFile(join(folder, name), text);
  return join(folder, name);
}

const entry = (more = '') =>
  `data: watchpost.db\ntargets_from: { ssh: { url: "${sink.origin}/targets?key=abc", check: tcp, every: 30s${more} } }\n`;

/** The configuration as the daemon has it, over a clock of its own. */
async function source(text = entry()) {
  const clock = new FakeClock();
  const { log, lines } = memoryLog();
  const path = await put('watchpost.yaml', text);
  const opened = openConfigSource({ path, env: {}, clock, log });
  return {
    log: () => lines.map(({ msg }) => msg),
    names: async () => (await opened.load()).targets.map(({ name }) => name),
    /** Lets a minute pass in which the list is asked again. */
    async ask() {
      const before = sink.received.length;
      await clock.advance(60_000);
      await opened.fingerprint();
      await eventually(30_000, () => expect(sink.received.length).toBeGreaterThan(before));
    },
    /** The same, and waits for what came of it: the list is not asked again before, and a clock that goes on would cut it off. */
    async minute() {
      const { failures = 0, hadAt = null } = opened.lists()[0] ?? {};
      await this.ask();
      await eventually(30_000, () => expect(opened.lists()[0]).not.toMatchObject({ failures, hadAt }));
    },
    print: async () => opened.fingerprint(),
    printRead: () => opened.fingerprintRead(),
    state: () => opened.lists()[0],
    clock,
    [Symbol.dispose]: () => opened[Symbol.dispose](),
  };
}

test('targets come from an address in the form of http_sd, with their labels, asked as Prometheus asks', async () => {
  await put('token', 'tok-1\n');
  const path = await put('watchpost.yaml', entry(', ask: { every: 90s, token_file: token, headers: { X-Zone: a } }'));
  const config = await loadConfig({ path, env: {}, readList: askEachTime(systemClock) });
  expect(config.targets).toMatchObject([
    { name: 'ssh-a-example-com-22', labels: { team: 'web' }, spec: { type: 'tcp' }, schedule: { everyMs: 30_000 } },
  ]);
  expect(Object.keys(config.targets[0]?.labels ?? {})).toEqual(['team']);
  expect(config.lists).toEqual([{ name: 'ssh', shown: `${sink.origin}/targets`, targets: 1, trouble: null }]);
  expect(sink.received).toMatchObject([
    {
      method: 'GET',
      path: '/targets?key=abc',
      headers: {
        accept: 'application/json',
        authorization: 'Bearer tok-1',
        'x-zone': 'a',
        'x-prometheus-refresh-interval-seconds': '90',
        'user-agent': expect.stringMatching(/^Watchpost\//i),
      },
    },
  ]);
});

test('what is listed anew is a change of the configuration, and the list is asked once in its interval', async () => {
  using daemon = await source();
  expect(await daemon.names()).toEqual(['ssh-a-example-com-22']);
  const before = await daemon.print();
  await daemon.clock.advance(59_000);
  expect(await daemon.print()).toBe(before);
  expect(sink.received).toHaveLength(1);
  sink.answer = () => lists('a.example.com:22', 'b.example.com:22');
  await daemon.minute();
  await eventually(10_000, async () => expect(await daemon.print()).not.toBe(before));
  expect(await daemon.names()).toEqual(['ssh-a-example-com-22', 'ssh-b-example-com-22']);
});

test('a list that is named for the first time, or has a mistake, is no change after it was read', async () => {
  using daemon = await source('data: watchpost.db\ntargets: { shop: { check: tcp, host: "a.example:1" } }\n');
  expect(await daemon.names()).toEqual(['shop']);
  expect(daemon.printRead()).toBe(await daemon.print());
  await put('watchpost.yaml', entry());
  expect(await daemon.names()).toEqual(['ssh-a-example-com-22']);
  expect(daemon.printRead()).toBe(await daemon.print());
  sink.answer = () => lists('no host at all');
  await daemon.minute();
  expect(daemon.printRead()).not.toBe(await daemon.print());
  expect(await daemon.names()).toEqual(['ssh-a-example-com-22']);
  expect(daemon.printRead()).toBe(await daemon.print());
});

test.each<readonly [string, Step, RegExp]>([
  ['is away', 'drop', /ECONNRESET|hang up/],
  ['answers 500', { status: 500, body: 'no' }, /^it answered with status 500$/],
  ['redirects', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }, /^it answered with status 302$/],
  ['answers a page', said('<html>'), /^its answer is no JSON/],
  ['answers another form', said('{"targets": []}'), /^its answer is no list of groups/],
  ['answers another form of group', said('[{"targets": [5]}]'), /list of groups.*0\.targets\.0/],
  ['breaks off', 'cut', /aborted|mismatch|ECONNRESET/i],
  ['answers without an end', said(`[${' '.repeat(9_000_000)}]`), /^its answer has more than 8388608 bytes$/],
])('a list that %s changes nothing, is told once, and once when it is back', async (_, step, reason) => {
  using daemon = await source();
  const names = await daemon.names();
  const before = await daemon.print();
  sink.answer = () => step;
  await daemon.minute();
  await eventually(10_000, () => expect(daemon.log()).toHaveLength(1));
  await daemon.minute();
  expect(await daemon.names()).toEqual(names);
  expect(await daemon.print()).toBe(before);
  expect(daemon.log()).toEqual(['cannot fetch target list; keeping the last one']);
  const path = join(folder, 'watchpost.yaml');
  const { lists: found } = await loadConfig({ path, env: {}, readList: askEachTime(systemClock) });
  expect(found).toMatchObject([{ targets: 1, trouble: expect.stringMatching(reason) }]);
  expect(found[0]?.trouble).not.toContain('key=abc');
  sink.answer = () => lists('a.example.com:22');
  await daemon.minute();
  await eventually(10_000, () => expect(daemon.log()).toHaveLength(2));
  expect(daemon.log()[1]).toBe('target list is available again');
});

test('it is told how a list comes in: how often it was not had, when it was had last, and whether it is good', async () => {
  using daemon = await source(entry(', at_most: 1'));
  await daemon.names();
  const startedAt = daemon.clock.now();
  expect(daemon.state()).toEqual({ name: 'ssh', failures: 0, hadAt: startedAt, isGood: true });
  sink.answer = () => 'drop';
  for (const failures of [1, 2]) {
    await daemon.minute();
    await eventually(10_000, () =>
      expect(daemon.state()).toEqual({ name: 'ssh', failures, hadAt: startedAt, isGood: false }),
    );
  }
  sink.answer = () => lists('a:1', 'b:1');
  await daemon.minute();
  const back = { name: 'ssh', failures: 2, hadAt: daemon.clock.now() };
  await eventually(10_000, () => expect(daemon.state()).toEqual({ ...back, isGood: true }));
  // There are more than there may be.
  await daemon.names();
  expect(daemon.state()).toEqual({ ...back, isGood: false });
  sink.answer = () => lists('a:1');
  await daemon.minute();
  await eventually(10_000, () => expect(daemon.state()).toEqual({ ...back, hadAt: daemon.clock.now(), isGood: true }));
});

test('an address that hangs has ten seconds', async () => {
  using daemon = await source();
  await daemon.names();
  sink.answer = () => 'hang';
  await daemon.ask();
  await daemon.clock.advance(9_000);
  expect(daemon.log()).toEqual([]);
  await daemon.clock.advance(2_000);
  await eventually(10_000, () => expect(daemon.log()).toHaveLength(1));
});

test('what was known is there after a restart while the address is away, for this user alone', async () => {
  {
    using daemon = await source();
    await daemon.names();
  }
  const [kept = ''] = await readdir(join(folder, 'targets'));
  expect((await stat(join(folder, 'targets', kept))).mode & 0o777).toBe(0o600);
  sink.answer = () => 'drop';
  using daemon = await source();
  expect(await daemon.names()).toEqual(['ssh-a-example-com-22']);
  expect(daemon.log()).toEqual(['cannot fetch target list; keeping the last one']);
});

test('a program whose list was never had starts without its targets', async () => {
  sink.answer = () => 'drop';
  using daemon = await source();
  expect(await daemon.names()).toEqual([]);
});

test('an answer that makes no good configuration is not taken, and one after it is', async () => {
  using daemon = await source(entry(', at_most: 2'));
  const names = await daemon.names();
  const bad = [lists('a:1', 'b:1', 'c:1'), lists('x y')];
  for (const [index, step] of bad.entries()) {
    sink.answer = () => step;
    const before = await daemon.print();
    await daemon.minute();
    await eventually(10_000, async () => expect(await daemon.print()).not.toBe(before));
    expect(await daemon.names()).toEqual(names);
    expect(daemon.log()).toHaveLength(index + 1);
    expect(daemon.log().at(-1)).toBe('target list is not valid; keeping the last valid one');
    const kept = await readdir(join(folder, 'targets'));
    expect(await readFile(join(folder, 'targets', kept[0] ?? ''), 'utf8')).toContain('a.example.com');
  }
  const before = await daemon.print();
  sink.answer = () => lists('b.example.com:22');
  await daemon.minute();
  await eventually(10_000, async () => expect(await daemon.print()).not.toBe(before));
  expect(await daemon.names()).toEqual(['ssh-b-example-com-22']);
});

test('a mistake in the file itself does not make anybody forget what is listed anew', async () => {
  using daemon = await source();
  await daemon.names();
  sink.answer = () => lists('b.example.com:22');
  const before = await daemon.print();
  await daemon.minute();
  await eventually(10_000, async () => expect(await daemon.print()).not.toBe(before));
  await put('watchpost.yaml', `${entry()}evry: 5\n`);
  await expect(daemon.names()).rejects.toThrow('evry: unknown key');
  await put('watchpost.yaml', entry());
  expect(await daemon.names()).toEqual(['ssh-b-example-com-22']);
});

test('https is verified against the authorities that are named', async () => {
  const authority = await issueAuthority();
  const own = await issue({ ca: authority, names: ['localhost'] });
  const server = createServer({ key: own.key, cert: own.cert }, (_, reply) => reply.end('[{"targets": ["a:1"]}]'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  await put('ca.pem', authority.cert);
  const url = `https://localhost:${(server.address() as AddressInfo).port}/targets`;
  const load = async (more: string) => {
    const text = `data: watchpost.db\ntargets_from: { ssh: { url: "${url}", check: tcp${more} } }\n`;
    const path = await put('watchpost.yaml', text);
    return (await loadConfig({ path, env: {}, readList: askEachTime(systemClock) })).lists;
  };
  expect(await load('')).toMatchObject([{ targets: 0, trouble: expect.stringMatching(/certificate/i) }]);
  expect(await load(', ask: { ca_file: ca.pem }')).toMatchObject([{ targets: 1, trouble: null }]);
  server.close();
  await once(server, 'close');
});

test('config check says what came of each address', async () => {
  const path = await put('watchpost.yaml', entry());
  const check = async () => commandHere(['config', 'check', '--config', path]);
  const unheard = 'warning: 1 target has no recipient for critical and warning incidents: ssh-a-example-com-22\n';
  expect(await check()).toMatchObject({
    code: 0,
    err: `targets_from.ssh: 1 target from ${sink.origin}/targets\n${unheard}`,
  });
  sink.answer = () => ({ status: 503 });
  expect(await check()).toMatchObject({
    code: 0,
    err: `warning: targets_from.ssh: ${sink.origin}/targets: it answered with status 503; nothing is known of it\n`,
  });
  sink.answer = () => lists('x y');
  const { code, err } = await check();
  expect(code).toBe(2);
  expect(err).toContain(`${sink.origin}/targets:1:`);
});

test.each([
  ['{ check: tcp }', 'targets_from.ssh.files: is missing: set files, url, srv, docker or kubernetes'],
  ['{ docker: a.sock, srv: _x._tcp.b.c, check: tcp }', 'targets_from.ssh.docker: cannot be set together with srv'],
  [
    '{ docker: a.sock, ask: { token_file: t }, check: tcp }',
    'targets_from.ssh.ask.token_file: is for url and kubernetes only',
  ],
  ['{ url: "ftp://x/", check: tcp }', 'expected an address that lists targets'],
  ['{ url: "http://x/", files: a.json, check: tcp }', 'targets_from.ssh.url: cannot be set together with files'],
  ['{ url: "http://x/", ask: { every: 1 }, check: tcp }', 'targets_from.ssh.ask.every: expected a duration'],
  ['{ url: "http://x/", ask: { token_file: none }, check: tcp }', 'targets_from.ssh.ask.token_file: cannot read'],
])('a mistake is told: %s', async (written, message) => {
  const path = await put('watchpost.yaml', `data: watchpost.db\ntargets_from: { ssh: ${written} }\n`);
  const readList = async () => ({ text: null, trouble: null });
  const error: unknown = await loadConfig({ path, env: {}, readList }).catch((reason: unknown) => reason);
  expect(error instanceof Error ? error.message : '').toContain(message);
});
