import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkOf, CheckSpec, type Outcome } from '#checks/index.ts';
import { systemClock as clock } from '#kernel/clock.ts';
import { systemRandom as random } from '#kernel/random.ts';
import { loopbackGate } from '../../support/http-check.ts';
import { needsSystemd, startSystemd } from '../../support/systemd.ts';
import { startProber } from '../../support/probe-once.ts';

const type = checkOf('systemd');

async function ask(systemdSocket: string | undefined, host: string, more: object = {}): Promise<Outcome> {
  const prober = await startProber('systemd', { clock, random, localAddress: {}, systemdSocket });
  try {
    const spec = CheckSpec.parse({ type: 'systemd', host, timeout: '5s', ...more });
    return type.Outcome.parse(await prober.probe(spec, { gate: loopbackGate(), signal: new AbortController().signal }));
  } finally {
    await prober.close();
  }
}

test('states of units, asked of systemd over its message bus', async (context) => {
  needsSystemd(context);
  await using systemd = await startSystemd();
  const { socket, unit, systemctl } = systemd;
  const about = async (name: string, more: object = {}) => ask(socket, name, more);
  const soon = (name: string, more: object = {}) => expect.poll(async () => about(name, more), { timeout: 20_000 });
  await unit('shop.service', '[Unit]', 'Description=The shop', '[Service]', 'ExecStart=sleep 600');
  // Its socket is there before its name is on the bus.
  await soon('shop.service').toMatchObject({
    status: 'down',
    failure: { source: 'target', code: 'status', message: 'unit shop.service is inactive' },
  });
  expect(await about('shop.service', { expect: { state: ['inactive', 'failed'] } })).toMatchObject({ status: 'up' });
  await systemctl('start', 'shop.service');
  await soon('shop.service').toMatchObject({
    status: 'up',
    seconds: expect.any(Number),
    phases: { query: expect.any(Number) },
    detail: { state: 'active', sub: 'running', description: 'The shop', result: 'success', exit: 0, restarts: 0 },
  });
  expect(await about('shop.service', { expect: { sub: 'exited' } })).toMatchObject({
    status: 'down',
    failure: { message: 'unit shop.service is active, but running' },
  });
  await systemctl('kill', '--signal=SIGKILL', 'shop.service');
  await soon('shop.service').toMatchObject({
    status: 'down',
    failure: { message: 'unit shop.service is failed: killed by signal 9' },
    detail: { state: 'failed', sub: 'failed', result: 'signal', exit: 9 },
  });

  await unit('ends.service', '[Service]', 'ExecStart=sh -c "exit 3"');
  await systemctl('start', 'ends.service');
  await soon('ends.service').toMatchObject({ failure: { message: 'unit ends.service is failed: exit code 3' } });
  await unit('again.service', '[Service]', 'ExecStart=false', 'Restart=on-failure', 'RestartSec=50ms');
  await systemctl('start', 'again.service');
  await soon('again.service').toMatchObject({
    failure: { message: 'unit again.service is failed: exit code 1' },
    detail: { restarts: expect.toSatisfy((count: number) => count >= 3) },
  });

  await unit('backup.service', '[Service]', 'Type=oneshot', 'ExecStart=true');
  await unit('backup.timer', '[Timer]', 'OnCalendar=*-01-01');
  expect(await about('backup.timer')).toMatchObject({ failure: { message: 'unit backup.timer is inactive' } });
  await systemctl('start', 'backup.timer');
  await soon('backup.timer', { expect: { sub: ['waiting', 'running'] } }).toMatchObject({
    status: 'up',
    detail: { sub: 'waiting', result: null, exit: null, restarts: null },
  });

  expect(await about('other.service')).toMatchObject({
    status: 'down',
    failure: { source: 'target', code: 'status', message: 'there is no unit other.service' },
    detail: null,
  });
  await systemctl('mask', 'backup.service');
  expect(await about('backup.service')).toMatchObject({
    failure: { message: 'unit backup.service is inactive (masked)' },
  });
  await unit('wrong.service', '[Service]', 'Type=oneshot');
  expect(await about('wrong.service', { expect: { state: 'inactive' } })).toMatchObject({
    failure: { message: 'unit wrong.service cannot be loaded: bad-setting' },
    detail: null,
  });
  await unit('long.service', '[Service]', `ExecStart=true ${'x'.repeat(1_100_000)}`);
  expect(await about('long.service', { expect: { state: 'inactive' } })).toMatchObject({
    failure: { message: 'unit long.service cannot be loaded: error' },
  });

  systemd.signal('SIGSTOP');
  expect(await about('shop.service', { timeout: '500ms' })).toMatchObject({
    status: 'unknown',
    failure: { source: 'third_party', code: 'timeout', message: 'systemd did not answer within 500ms' },
  });
  systemd.signal('SIGCONT');
  await soon('backup.timer').toMatchObject({ status: 'up' });
  await systemd.end();
  expect(await about('backup.timer')).toMatchObject({
    status: 'unknown',
    failure: { source: expect.stringMatching(/third_party|node/) },
  });
}, 120_000);

describe('a bus that is none', () => {
  test('no setting, and no socket', async () => {
    expect(await ask(undefined, 'a.service')).toMatchObject({
      status: 'unknown',
      failure: { source: 'node', code: 'unsupported', message: expect.stringContaining('systemd_socket') },
    });
    expect(await ask('/nonexistent/bus', 'a.service')).toMatchObject({
      status: 'unknown',
      failure: { source: 'node', code: 'local', message: 'there is no /nonexistent/bus' },
    });
  });

  const ok = 'DATA\r\nOK 1234\r\n';
  const word = (value: number) => Buffer.from(new Uint32Array([value]).buffer);
  test.each<[string, (socket: Socket) => unknown, string]>([
    ['who refuses', (socket) => socket.end('REJECTED EXTERNAL\r\n'), 'local'],
    ['another protocol', (socket) => socket.end('SSH-2.0-OpenSSH\r\n'), 'protocol'],
    ['a line without an end', (socket) => socket.write('x'.repeat(100_000)), 'protocol'],
    ['an end', (socket) => socket.end(), 'no_answer'],
    ['an end after the login', (socket) => socket.end(ok), 'local'],
    ['text after the login', (socket) => socket.write(`${ok}${'hello '.repeat(10)}`), 'protocol'],
    [
      'a message of a gigabyte',
      (socket) =>
        socket.write(Buffer.concat([Buffer.from(ok), Buffer.from([0x6c, 2, 0, 1]), word(2 ** 30), word(1), word(0)])),
      'protocol',
    ],
    ['nothing', () => {}, 'timeout'],
  ])('%s', async (_, answer, code) => {
    const folder = mkdtempSync(join(tmpdir(), 'watchpost-bus-'));
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.once('data', () => answer(socket));
    });
    try {
      const socket = join(folder, 'bus');
      server.listen(socket);
      await once(server, 'listening');
      expect(await ask(socket, 'a.service', { timeout: '500ms' })).toMatchObject({
        status: 'unknown',
        failure: { code },
      });
    } finally {
      for (const socket of sockets) socket.destroy();
      server.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test.each(['nginx', '../a.service', 'a b.service', '', '.service', `${'a'.repeat(250)}.service`])(
    '%o is no name of a unit',
    (host) => {
      expect(() => CheckSpec.parse({ type: 'systemd', host })).toThrow('expected the full name of a unit');
    },
  );
});
