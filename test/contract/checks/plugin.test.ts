import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { checkOf, CheckSpec, type Outcome } from '#checks/index.ts';
import { systemClock } from '#kernel/clock.ts';
import { loopbackGate } from '../../support/http-check.ts';
import { eventually } from '../../support/program.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { closedPort, tcpServer } from '../../support/tcp-servers.ts';
import { startProber } from '../../support/probe-once.ts';

const folder = mkdtempSync(join(tmpdir(), 'watchpost-plugins-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function script(name: string, text: string, interpreter = '/bin/sh'): string {
  const path = join(folder, name);
  writeFileSync(path, `#!${interpreter}\n${text}\n`, { mode: 0o755 });
  return path;
}

type Plugins = Readonly<Record<string, readonly string[]>>;
const type = checkOf('plugin');
const starting = async (plugins: Plugins) =>
  startProber('plugin', { clock: systemClock, random: seededRandom(), localAddress: {}, plugins });
const spec = (more: object = {}) => CheckSpec.parse({ type: 'plugin', host: 'a.example', plugin: 'it', ...more });

async function run(
  command: readonly string[],
  more: object = {},
  signal: AbortSignal = new AbortController().signal,
): Promise<Outcome> {
  const prober = await starting({ it: command });
  try {
    return type.Outcome.parse(await prober.probe(spec(more), { gate: loopbackGate(), signal }));
  } finally {
    await prober.close();
  }
}

const isAlive = (pid: number) => {
  if (!existsSync(`/proc/${pid}/stat`)) return false;
  return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
};
const pidIn = (path: string) => Number(readFileSync(path, 'utf8'));
const isGone = async (path: string) =>
  eventually(5_000, () => {
    const pid = pidIn(path);
    expect([pid > 1, isAlive(pid)]).toEqual([true, false]);
  });

const debian = '/usr/lib/nagios/plugins';
const missing = existsSync(`${debian}/check_dummy`) ? null : 'monitoring-plugins-basic is not installed';

describe.skipIf(missing !== null)(`plugins of Debian${missing === null ? '' : ` (${missing})`}`, () => {
  test.each([
    ['0', 'up', 'ok', null],
    ['1', 'up', 'warning', null],
    ['2', 'down', 'critical', { source: 'target', code: 'status', message: 'CRITICAL: all fine' }],
    ['3', 'unknown', 'unknown', { source: 'third_party', code: 'status', message: 'UNKNOWN: all fine' }],
  ])('check_dummy %s is %s', async (state, status, said, failure) => {
    const outcome = await run([`${debian}/check_dummy`, '{state}', '{text}'], { values: { state, text: 'all fine' } });
    expect(outcome).toMatchObject({
      status,
      address: '127.0.0.1',
      facts: { plugin_state: Number(state) },
      detail: { state: said, text: `${said.toUpperCase()}: all fine` },
      ...(failure !== null && { failure }),
    });
  });

  test('check_tcp, with a server and without', async () => {
    await using server = await tcpServer((socket) => void socket.end('hello\n'));
    const command = [`${debian}/check_tcp`, '-H', '{address}', '-p', '{port}', '-w', '5', '-c', '9'];
    const port = Number(server.host.split(':').at(-1));
    expect(await run(command, { port })).toMatchObject({
      status: 'up',
      phases: { query: expect.any(Number) },
      detail: { state: 'ok', values: [{ label: 'time', unit: 's', max: 10 }] },
    });
    expect(await run(command, { port: await closedPort() })).toMatchObject({
      status: 'down',
      failure: { source: 'target', code: 'status', message: expect.stringContaining('Connection refused') },
    });
  });

  test('check_disk has a value for each file system', async () => {
    const outcome = await run([`${debian}/check_disk`, '-w', '0', '-c', '0', '-p', '/']);
    expect(outcome).toMatchObject({ status: 'up', detail: { values: [{ label: '/' }] } });
    expect(checkOf('plugin').lines(outcome).join('\n')).toMatch(/^value +\/ +\d/m);
  });

  test('check_ssh on a server that is none', async () => {
    const server = createServer((socket) => void socket.end('220 mail\r\n')).listen(0, '127.0.0.1');
    await new Promise((resolve) => void server.once('listening', resolve));
    const { port } = server.address() as { port: number };
    const outcome = await run([`${debian}/check_ssh`, '-t', '3', '-p', '{port}', '{address}'], { port });
    server.close();
    expect(outcome).toMatchObject({ status: 'down', failure: { source: 'target', code: 'status' } });
  });
});

test('a program gets its arguments, two variables, no input and the root as its folder', async () => {
  const shown = script('shown', 'echo "$#:$1:$2"; env | sort; pwd; readlink /proc/self/fd/0; nice');
  const outcome = await run([shown, '{text}', '-h={host}'], { values: { text: '$(id); `id` "x"' } });
  expect(outcome).toMatchObject({ status: 'up', detail: { text: '2:$(id); `id` "x":-h=a.example' } });
  const { more } = outcome.detail as { more: readonly string[] };
  expect(more.filter((line) => !line.startsWith('PWD=') && !line.startsWith('_='))).toEqual([
    'LC_ALL=C',
    expect.stringMatching(/^PATH=/),
    '/',
    '/dev/null',
    String(Math.min(19, getPriority() + 10)),
  ]);
});

test('memory is limited', async () => {
  const greedy = script('greedy', 'ulimit -v; ulimit -c');
  expect(await run([greedy])).toMatchObject({ detail: { text: '2097152', more: ['0'] } });
});

describe('hostile programs', () => {
  test('one that hangs and ignores SIGTERM, with a child', async () => {
    const file = join(folder, 'hanging.pid');
    const hanging = script('hanging', `trap '' TERM INT HUP; sleep 300 & echo $! > ${file}; wait; sleep 300`);
    expect(await run([hanging], { timeout: '500ms' })).toMatchObject({
      status: 'unknown',
      failure: { source: 'third_party', code: 'timeout', message: 'plugin it did not end within 500ms and was killed' },
    });
    await isGone(file);
  });

  test('one that ends, and leaves a child that keeps its output open', async () => {
    const file = join(folder, 'leaving.pid');
    const leaving = script('leaving', `sleep 300 & echo $! > ${file}; echo 'OK - left | a=1'; exit 0`);
    expect(await run([leaving])).toMatchObject({ status: 'up', detail: { text: 'OK - left', values: [{ value: 1 }] } });
    await isGone(file);
  });

  test('one whose child leaves its process group and keeps the output open', async () => {
    const file = join(folder, 'detached.pid');
    const detached = script(
      'detached',
      `setsid sh -c 'echo $$ > ${file}; exec sleep 300' & sleep 0.2; echo OK; exit 0`,
    );
    expect(await run([detached])).toMatchObject({ status: 'up', detail: { text: 'OK' } });
    process.kill(pidIn(file), 'SIGKILL');
  });

  test('one that closes its output and stays', async () => {
    const file = join(folder, 'closed.pid');
    const closed = script('closed', `echo $$ > ${file}; exec >&- 2>&-; sleep 300`);
    expect(await run([closed], { timeout: '500ms' })).toMatchObject({ failure: { code: 'timeout' } });
    await isGone(file);
  });

  test.each(['', ' >&2'])('one that floods%s', async (where) => {
    const flooding = script('flooding', `exec yes 'OK | a=1'${where}`);
    const before = process.memoryUsage().rss;
    expect(await run([flooding])).toMatchObject({
      status: 'unknown',
      failure: {
        source: 'third_party',
        code: 'too_large',
        message: 'plugin it printed more than 64 KiB and was killed',
      },
    });
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1_048_576);
  });

  test('one that prints binary data', async () => {
    const binary = script('binary', `printf '\\033[31mbad\\000\\377\\n\\033]0;x\\007more'; exit 2`);
    expect(await run([binary])).toMatchObject({
      status: 'down',
      failure: { message: 'bad \uFFFD' },
      detail: { text: 'bad \uFFFD', more: ['more'] },
    });
  });

  test('one that changes its performance data', async () => {
    const changing = script('changing', `echo "OK | $(cat /proc/sys/kernel/random/uuid)=1 =2 'b"`);
    const [one, other] = [await run([changing]), await run([changing])];
    for (const outcome of [one, other])
      expect(outcome).toMatchObject({ status: 'up', detail: { values: [{ value: 1 }], omitted: 2 } });
    expect(one.detail).not.toEqual(other.detail);
  });

  test.each([
    ['exit 4', 'exit', 'plugin it ended with exit code 4'],
    ['echo lost >&2; exit 127', 'exit', 'plugin it ended with exit code 127: lost'],
    ['kill -SEGV $$', 'exit', 'plugin it was ended by SIGSEGV'],
  ])('one that does %s', async (text, code, message) => {
    expect(await run([script('odd', text)])).toMatchObject({
      status: 'unknown',
      failure: { source: 'third_party', code, message },
    });
  });

  test('one that says nothing', async () => {
    expect(await run([script('mute', 'exit 2')])).toMatchObject({
      status: 'down',
      failure: { message: 'plugin it is critical and printed nothing' },
    });
  });

  test('one that is cancelled', async () => {
    const file = join(folder, 'cancelled.pid');
    const long = script('cancelled', `echo $$ > ${file}; sleep 300`);
    const ending = new AbortController();
    const reason = new Error('enough');
    const running = run([long], {}, ending.signal);
    await eventually(5_000, () => expect(pidIn(file)).toBeGreaterThan(1));
    ending.abort(reason);
    await expect(running).rejects.toBe(reason);
    await isGone(file);
  });
});

test.each([
  [['/nonexistent/check'], {}, /^plugin it: \/nonexistent\/check cannot be run: ENOENT/],
  [['/etc'], {}, 'plugin it: /etc is no file'],
  [['/bin/true', '{port}'], {}, 'plugin it: the plugin needs a port: set port'],
  [['/bin/true', '{name}'], { values: { name: '--evil' } }, 'plugin it: name must not begin with "-" here'],
  [['/bin/true'], { plugin: 'other' }, 'this node has no plugin "other"'],
])('%j is a fault of the node', async (command, more, message) => {
  expect(await run(command, more)).toMatchObject({
    status: 'unknown',
    failure: {
      source: 'node',
      code: 'unsupported',
      message: typeof message === 'string' ? message : expect.stringMatching(message),
    },
  });
});

test('a file that may not be run is a fault of the node', async () => {
  const path = join(folder, 'text');
  writeFileSync(path, 'exit 2', { mode: 0o644 });
  const message = expect.stringContaining('cannot be run: EACCES');
  expect(await run([path])).toMatchObject({ status: 'unknown', failure: { source: 'node', message } });
});

test('a node says which plugins it has, and why it has none', async () => {
  const some = await starting({ b: ['/bin/true'], a: ['/bin/true'], gone: ['/nonexistent'] });
  expect(some.capability).toEqual({ able: true, has: ['a', 'b'] });
  const none = await starting({});
  expect(none.capability).toMatchObject({ able: false, reason: expect.stringContaining('under plugins') });
});

test('at most four run at once: the others wait, and are busy in the end', async () => {
  const prober = await starting({ it: [script('slow', 'sleep 1; echo OK')] });
  const context = { gate: loopbackGate(), signal: new AbortController().signal };
  const timeouts = ['10s', '10s', '10s', '10s', '10s', '300ms'];
  const outcomes = await Promise.all(timeouts.map(async (timeout) => prober.probe(spec({ timeout }), context)));
  await prober.close();
  expect(outcomes.map(({ status }) => status)).toEqual(['up', 'up', 'up', 'up', 'up', 'unknown']);
  expect(outcomes.at(-1)).toMatchObject({ failure: { source: 'node', code: 'busy' } });
});

test.each([
  { plugin: '../evil' },
  { plugin: undefined },
  { values: { host: 'x' } },
  { values: { 'a b': 'x' } },
  { values: { a: 'x\n' } },
  { port: 0 },
])('%j is refused', (more) => {
  const written = { type: 'plugin', host: 'a.example', plugin: 'it', ...more };
  expect(CheckSpec.safeParse(written).success).toBe(false);
});
