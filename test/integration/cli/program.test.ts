import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandHere } from '../../support/command.ts';
import { fakeService, replayService, sendJson } from '../../support/fake-service.ts';
import { closedPort, tcpServer } from '../../support/tcp-servers.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'watchpost-cli-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

async function configFile(text: string): Promise<string> {
  const path = join(folder, 'watchpost.yaml');
  await writeFile(path, text);
  return path;
}

test('help names the commands, and for a check its options with units and defaults', async () => {
  const { code, out } = await commandHere(['--help']);
  expect(code).toBe(0);
  for (const command of ['run', 'check', 'config']) expect(out).toMatch(new RegExp(`^ +${command}\\b`, 'm'));
  const ping = await commandHere(['check', 'ping', '--help']);
  expect(ping.out).toMatch(/--timeout <value> +How long each echo request waits/);
  expect(ping.out).toMatch(/\(default:\s+3s\)/);
  expect(ping.out).toContain('--policy');
});

test.each([
  { args: ['http', 'a b'], says: /^host must not contain spaces/ },
  { args: ['ping', '127.0.0.1', '--timeout', '2'], says: /^--timeout: expected a duration with its unit/ },
  { args: ['ping', '127.0.0.1', '--count', '99'], says: /^--count: must be at most 20/ },
  {
    args: ['http', '127.0.0.1', '--expect-status', 'abc'],
    says: /^--expect-status: expected a status code such as 204/,
  },
  { args: ['http', '127.0.0.1', '--method', 'get'], says: /^--method: expected "GET", "HEAD"/ },
  { args: ['tcp', '127.0.0.1:1', '--family', '5'], says: /^--family: expected/ },
  { args: ['png', 'x'], says: /unknown command 'png'[^]*ping/ },
  { args: ['ping', 'x', '--cuont', '1'], says: /unknown option '--cuont'[^]*--count/ },
  { args: ['tcp', 'x', '--service', 'check.example.com'], says: /^--service: expected its address/ },
  { args: ['tcp', 'x', '--service', 'http://127.0.0.1:1', '--send', 'x'], says: /leave out "send"/ },
  {
    args: ['tcp', 'x', '--service', 'http://127.0.0.1:1', '--token-file', '/nowhere'],
    says: /^--token-file: \/nowhere cannot be read/,
  },
  { args: ['tcp', 'x', '--service', 'http://127.0.0.1:1', '--max-nodes', '0'], says: /a whole number above 0/ },
])('check $args is wrong usage', async ({ args, says }) => {
  const { code, out, err } = await commandHere(['check', ...args]);
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err.replace(/^error: /, '')).toMatch(says);
});

test('an open port is up, a closed one is down and says so', async () => {
  await using server = await tcpServer((socket) => socket.end('hello\r\n'));
  const up = await commandHere(['check', 'tcp', `127.0.0.1:${server.port}`, '--expect', 'hello']);
  expect(up.out).toMatch(/^UP {2}tcp 127\.0\.0\.1:\d+\n {2}address +127\.0\.0\.1\n {2}took +[\d.]+ [mµ]s\n/);
  expect(up.out).toMatch(/^ {2}answer +hello$/m);
  const down = await commandHere(['check', 'tcp', `127.0.0.1:${await closedPort()}`]);
  expect(down).toMatchObject({ code: 1, err: '' });
  expect(down.out).toMatch(/^DOWN {2}tcp .*\n {2}connection refused\n {2}\(refused: the target's fault\)\n/);
});

test('--json prints the outcome and nothing that was secret in the question', async () => {
  const port = await closedPort();
  const { code, out } = await commandHere(['check', 'http', `127.0.0.1:${port}`, '--bearer', 'hunter2', '--json']);
  expect(code).toBe(1);
  expect(JSON.parse(out)).toMatchObject({
    check: 'http',
    host: `http://127.0.0.1:${port}`,
    outcome: { status: 'down', failure: { source: 'target', code: 'refused' } },
  });
  expect(out).not.toContain('hunter2');
});

test('a check that is interrupted ends quietly', async () => {
  const stop = new AbortController();
  await using server = await tcpServer(() => stop.abort(new Error('SIGINT')));
  const ended = await commandHere(['check', 'tcp', `127.0.0.1:${server.port}`, '--expect', 'x'], { stop: stop.signal });
  expect(ended).toEqual({ code: 130, out: '', err: '' });
});

const up = [{ time: 0.05, address: '192.0.2.80' }];
const refused = [{ error: 'Connection refused' }];

test('a check through a service prints each node when it is done, the report and the votes', async () => {
  await using service = await replayService([
    { 'us1.node.x': null, 'de1.node.x': up },
    { 'us1.node.x': refused, 'de1.node.x': up },
  ]);
  const ended = await commandHere(['check', 'tcp', 'example.com:443', '--service', `${service.url}/`]);
  expect(ended).toMatchObject({ code: 1, err: '' });
  expect(ended.out.replace(/ +$/gm, '')).toBe(
    [
      'tcp example.com:443',
      `report: ${service.url}/check-report/23d5abc`,
      '',
      'de1     City of de1, Country          up       50 ms      192.0.2.80',
      'us1     City of us1, Country          down                Connection refused',
      '',
      '1 up, 1 down, 0 unknown',
      '',
    ].join('\n'),
  );
});

test('on a terminal the table is drawn anew over itself, and no line is too long for it', async () => {
  await using service = await replayService([{ 'us1.node.x': null }, { 'us1.node.x': refused }]);
  const { out } = await commandHere(['check', 'tcp', 'example.com:443', '--service', service.url], {
    interactive: true,
    columns: 60,
  });
  const frames = out.split('\u{1b}[1A\u{1b}[J');
  expect(frames.map((frame) => /^us1.*$/m.exec(frame)?.[0])).toEqual([
    expect.stringMatching(/\.\.\.$/),
    expect.stringMatching(/down/),
    expect.stringMatching(/down/),
  ]);
  for (const line of out.split('\n')) expect(line.length).toBeLessThan(70);
});

test('a check through a service asks for the nodes that were named, with the token', async () => {
  await using service = await replayService([{ 'us1.node.x': up, 'de1.node.x': up }]);
  await writeFile(join(folder, 'token'), 't0ken\n');
  const args = ['check', 'tcp', 'x:1', '--service', service.url, '--token-file', join(folder, 'token'), '--json'];
  const named = await commandHere([...args, '--node', 'de1', '--node', 'fr1']);
  expect(named.code).toBe(0);
  expect(JSON.parse(named.out)).toMatchObject({
    report: `${service.url}/check-report/23d5abc`,
    votes: [
      { node: { name: 'de1' }, outcome: { status: 'up' } },
      { node: { name: 'fr1' }, outcome: { status: 'unknown', failure: { source: 'service' } } },
    ],
  });
  expect(service.seen.every(({ headers }) => headers.authorization === 'Bearer t0ken')).toBe(true);
  const one = await commandHere([...args, '--max-nodes', '1']);
  expect(JSON.parse(one.out)).toMatchObject({ votes: [{ node: { name: 'us1' } }] });
});

test('a service that cannot be reached is said to be so, also where nodes are named', async () => {
  for (const more of [[], ['--node', 'us1'], ['--node', 'us1.node.example.net'], ['--max-nodes', '1']]) {
    const { code, out } = await commandHere(['check', 'tcp', 'x:1', '--service', 'http://127.0.0.1:1', ...more]);
    expect([more, code]).toEqual([more, 3]);
    expect(out).toContain('the check service cannot be reached: connection refused');
  }
});

test('a service that refuses is unknown with its reason, and exit code 3', async () => {
  await using service = await fakeService((_, response) => sendJson(response, { error: 'limit_exceeded' }));
  const { code, out } = await commandHere(['check', 'ping', 'example.com', '--service', service.url]);
  expect(code).toBe(3);
  expect(out).toMatch(/unknown .*the check service allows no more checks/);
  expect(out).toMatch(/0 up, 0 down, 1 unknown\n$/);
});

test('one round of every target is a table, and the exit code says the worst', async () => {
  await using server = await tcpServer((socket) => socket.end());
  const config = await configFile(`
    nodes: { de1: {}, de2: {} }
    targets:
      open: { check: tcp, host: "127.0.0.1:${server.port}" }
      shut: { check: tcp, host: "127.0.0.1:${await closedPort()}", nodes: [de2] }
      mute: { check: udp, host: "127.0.0.1:${await closedPort()}", silence: unknown }`);
  const all = await commandHere(['run', '--once', '--config', config, '--log-level', 'error']);
  expect(all).toMatchObject({ code: 1, err: '' });
  expect(all.out.split('\n').map((line) => line.split(/ {2,}/).slice(0, 4).join('|'))).toEqual([
    'target|verdict|node|saw',
    expect.stringMatching(/^open\|up\|de1\|up$/),
    '|de2|up|' + all.out.split('\n')[2]?.split(/ {2,}/)[3],
    'shut|down|de2|down',
    'mute|down|de1|down',
    expect.stringMatching(/^\|de2\|down/),
    '',
  ]);
  const one = await commandHere(['run', '--once', 'open', '--config', config, '--log-level', 'error']);
  expect(one.code).toBe(0);
  const none = await commandHere(['run', '--once', 'opne', '--config', config]);
  expect(none).toMatchObject({ code: 2, err: 'no target "opne" under targets (did you mean "open"?)\n' });
});

test('one round through a service that is not there is unknown', async () => {
  const config = await configFile(`
    service: { url: "http://127.0.0.1:${await closedPort()}" }
    targets: { shop: { check: ping, host: example.com } }`);
  const { code, out } = await commandHere(['run', '--once', '--config', config, '--log-level', 'fatal']);
  expect(code).toBe(3);
  expect(out).toMatch(/^shop +unknown +zz0 +unknown +- +the check service cannot be reached: connection refused$/m);
});

test('a plan tells checks for each node, disk and series', async () => {
  const config = await configFile(`
    http: { listen: "127.0.0.1:${await closedPort()}" }
    nodes: { de1: {}, us1: {} }
    targets:
      a: { check: tcp, host: "a:1", every: 30s }
      b: { check: ping, host: b, cron: "*/15 * * * *", nodes: [us1] }`);
  const { code, out } = await commandHere(['config', 'plan', '--config', config]);
  expect(code).toBe(0);
  expect(out.split('\n').map((line) => line.replaceAll(/ {2,}/g, ' | '))).toEqual([
    '2 targets on 2 nodes',
    'No daemon is running to compare with.',
    '',
    'target | check | when | nodes | checks a minute',
    'a | tcp | every 30s | 2 | 4',
    'b | ping | */15 * * * * UTC | 1 | 0.0667',
    '',
    'checks a minute | 4.07',
    ' | on de1 | 2',
    ' | on us1 | 2.07',
    'results a month | 176,000',
    'disk a month | 726 kB',
    'disk after a year | 4.7 MB',
    'Prometheus series | about 210',
    '',
  ]);
});

test('a plan for a service says what it cannot know, and when the budget is too small', async () => {
  const config = await configFile(`
    http: { listen: "127.0.0.1:${await closedPort()}" }
    service: { url: "https://check.example.com/", budget: 1/min }
    targets:
      a: { check: tcp, host: "a:1", every: 30s }
      b: { check: tcp, host: "b:1", every: 1m, nodes: 3 }`);
  const { out } = await commandHere(['config', 'plan', '--config', config]);
  expect(out).toContain('2 targets on the nodes of https://check.example.com\n');
  expect(out).toMatch(/^a +tcp +every 30s +all +2 a node$/m);
  expect(out).toMatch(/^starts a minute +3 of the 1 in service\.budget: too many, some rounds will be unknown$/m);
  expect(out).toMatch(/^checks a minute +at least 5$/m);
});

test('config schema prints the JSON Schema, config check the mistakes', async () => {
  const schema = await commandHere(['config', 'schema']);
  expect(JSON.parse(schema.out)).toMatchObject({ title: 'Watchpost configuration', properties: { targets: {} } });
  const good = await configFile('targets: { a: { check: ping, host: a } }');
  expect(await commandHere(['config', 'check', '--config', good])).toEqual({
    code: 0,
    out: `${good} is good: 1 target on 1 node\n`,
    err: 'warning: 1 target has no recipient for critical and warning incidents: a\n',
  });
  const bad = await configFile('targets: { a: { check: pong, host: a } }');
  expect(await commandHere(['config', 'check', '--config', bad])).toMatchObject({
    code: 2,
    out: '',
    err: expect.stringMatching(/watchpost\.yaml:1:24: targets\.a\.check: .*did you mean "ping"/),
  });
});
