import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, expect, test } from 'vitest';
import type { z } from 'zod';
import type { Policy } from '#checks/address.ts';
import { createGate } from '#checks/gate.ts';
import { outcomeOf } from '#checks/outcome-schemas.ts';
import { createResolver } from '#checks/resolver.ts';
import { tcp } from '#checks/tcp/index.ts';
import { start as startProber } from '#checks/tcp/probe.ts';
import { systemClock } from '#kernel/clock.ts';
import { systemRandom } from '#kernel/random.ts';
import { issue, issueAuthority } from '../../support/certificates.ts';
import { dnsServer, zone } from '../../support/dns-server.ts';
import { FakeClock, withoutTime } from '../../support/fake-clock.ts';
import { closedPort, tcpServer, tlsServer } from '../../support/tcp-servers.ts';

type Wishes = Omit<z.input<typeof tcp.Spec>, 'type'>;

interface Around {
  readonly policy?: Policy;
  readonly localAddress?: { readonly 4?: string };
  readonly signal?: AbortSignal;
  readonly servers?: readonly string[];
  /** Where this is given no time passes until it is so; then the time of the check is over. */
  readonly overOnce?: () => boolean;
}

async function check(wishes: Wishes, around: Around = {}) {
  const { policy = 'private', localAddress = {}, signal = new AbortController().signal, servers = [] } = around;
  const fake = around.overOnce === undefined ? null : new FakeClock();
  const clock = fake ?? systemClock;
  const resolver = createResolver({ clock, readFile: async () => '', servers, timeoutMs: 20_000, tries: 1 });
  const gate = createGate({ policy, allow: [], deny: [], resolver, clock, ownAddresses: () => [] });
  const prober = await startProber({ clock, random: systemRandom, localAddress });
  const probing = prober.probe(tcp.Spec.parse({ type: 'tcp', timeout: '30s', ...wishes }), { gate, signal });
  const outcome = await (fake === null ? probing : withoutTime(fake, probing, around.overOnce));
  await prober.close();
  return outcomeOf(tcp.Detail).parse(outcome);
}

let opened: Socket[] = [];
const onSocket = (message: unknown) => opened.push((message as { socket: Socket }).socket);
subscribe('net.client.socket', onSocket);
afterAll(() => {
  unsubscribe('net.client.socket', onSocket);
});

// Every socket that a check opened is closed when the check ends, not some time later.
afterEach(() => {
  expect(opened.filter((socket) => !socket.closed)).toEqual([]);
  opened = [];
});

const isConnected = () => opened.at(-1)?.readyState === 'open';
const hasHeard = () => (opened.at(-1)?.bytesRead ?? 0) > 0;
const hasSpoken = () => isConnected() && (opened.at(-1)?.bytesWritten ?? 0) > 0;

test('is up with the time of the handshake, by the kernel where there is one', async () => {
  await using server = await tcpServer(() => {});
  const outcome = await check({ host: server.host });
  expect(outcome).toMatchObject({ status: 'up', address: '127.0.0.1', detail: { answer: null, tls: null } });
  expect(outcome.seconds).toBeGreaterThan(0);
  expect(outcome.seconds).toBe(outcome.phases.connect);
  expect(outcome.detail?.timed_by).toBe(process.platform === 'linux' ? 'kernel' : 'clock');
  expect(outcome.detail?.clock_seconds).toBeGreaterThan(outcome.seconds ?? Number.NaN);
});

test('speaks IPv6', async () => {
  await using server = await tcpServer(() => {}, '::1');
  expect(await check({ host: server.host })).toMatchObject({ status: 'up', address: '::1' });
});

test('resolves a name once and times it apart', async () => {
  await using server = await tcpServer(() => {});
  await using names = await dnsServer(zone({ 'a.example': ['127.0.0.1'] }));
  const outcome = await check({ host: `a.example:${server.port}` }, { servers: [names.address] });
  expect(outcome).toMatchObject({ status: 'up', address: '127.0.0.1' });
  expect(outcome.phases.resolve).toBeGreaterThan(0);
  expect(names.questions).toHaveLength(2);
});

test('a name that does not exist is the target down', async () => {
  await using names = await dnsServer(zone({}));
  expect(await check({ host: 'a.example' }, { servers: [names.address] })).toMatchObject({
    status: 'down',
    failure: { source: 'target', code: 'name_not_found' },
  });
});

test('a resolver that is silent makes the outcome unknown', async () => {
  await using names = await dnsServer(() => null);
  expect(
    await check({ host: 'a.example' }, { servers: [names.address], overOnce: () => names.questions.length > 0 }),
  ).toMatchObject({
    status: 'unknown',
    failure: { source: 'resolver', code: 'name_timeout' },
  });
});

test('a closed port is refused', async () => {
  const outcome = await check({ host: `127.0.0.1:${await closedPort()}` });
  expect(outcome).toMatchObject({
    status: 'down',
    address: '127.0.0.1',
    failure: { source: 'target', code: 'refused' },
  });
});

test('the gate refuses this machine under public, however it is spelt', async () => {
  await using server = await tcpServer(() => {});
  for (const name of ['127.0.0.1', '0x7f.1', '2130706433', '[::ffff:127.0.0.1]', 'localhost', '0']) {
    const outcome = await check({ host: `${name}:${server.port}` }, { policy: 'public' });
    expect(outcome).toMatchObject({ status: 'unknown', failure: { source: 'node', code: 'forbidden' } });
  }
  expect(await server.connections()).toBe(0);
});

test('a source address that this machine lacks is the fault of the node', async () => {
  await using server = await tcpServer(() => {});
  expect(await check({ host: server.host }, { localAddress: { 4: '192.0.2.77' } })).toMatchObject({
    status: 'unknown',
    failure: { source: 'node', code: 'local' },
  });
});

test('a source address of this machine is used', async () => {
  const peers: (string | undefined)[] = [];
  await using server = await tcpServer((socket) => peers.push(socket.remoteAddress));
  expect(await check({ host: server.host }, { localAddress: { 4: '127.0.0.9' } })).toMatchObject({ status: 'up' });
  expect(peers).toEqual(['127.0.0.9']);
});

test('what the target says is read until the expectation is met', async () => {
  await using server = await tcpServer((socket) => {
    socket.write('220 mail.');
    setImmediate(() => socket.write('example ESMTP\r\nmore'));
  });
  const outcome = await check({ host: server.host, expect: { regex: '^220 .* ESMTP' } });
  expect(outcome).toMatchObject({ status: 'up', detail: { answer: '220 mail.example ESMTP more' } });
  expect(outcome.phases.first_byte).toBeGreaterThanOrEqual(0);
});

test.each([
  ['text', 'PING\\r\\n', '+PONG\\x0d\\n'],
  ['bytes', { hex: '50 49 4e 47 0d 0a' }, { hex: '2b504f4e47' }],
  ['base64', { base64: 'UElORw0K' }, { regex: 'PONG$' }],
])('what is sent as %s is answered', async (_, send, expected) => {
  await using server = await tcpServer((socket) => {
    socket.on('data', (data) => socket.write(data.toString() === 'PING\r\n' ? '+PONG\r\n' : '-ERR\r\n'));
  });
  expect(await check({ host: server.host, send, expect: expected })).toMatchObject({ status: 'up' });
});

test('sending alone is enough where nothing is expected', async () => {
  await using server = await tcpServer(() => {});
  expect(await check({ host: server.host, send: 'hello' })).toMatchObject({ status: 'up', detail: { answer: null } });
});

test('a silent target times out', async () => {
  await using server = await tcpServer(() => {});
  const outcome = await check({ host: server.host, expect: 'hello' }, { overOnce: isConnected });
  expect(outcome).toMatchObject({ status: 'down', failure: { code: 'timeout', message: 'no answer within 30s' } });
});

test('a target that closes without a word is closed', async () => {
  await using server = await tcpServer((socket) => socket.end());
  expect(await check({ host: server.host, expect: 'hello' })).toMatchObject({
    status: 'down',
    failure: { code: 'closed' },
  });
});

test('a target that says something else and closes has a wrong answer', async () => {
  await using server = await tcpServer((socket) => socket.end('go away\r\n'));
  expect(await check({ host: server.host, expect: 'hello' })).toMatchObject({
    status: 'down',
    failure: { code: 'answer', message: expect.stringContaining('go away') },
    detail: { answer: 'go away' },
  });
});

test('a target that says something else and stays has a wrong answer at the deadline', async () => {
  await using server = await tcpServer((socket) => socket.write('wait'));
  expect(await check({ host: server.host, expect: 'hello' }, { overOnce: hasHeard })).toMatchObject({
    failure: { code: 'answer' },
  });
});

test('a target that drips is cut off at the deadline', async () => {
  await using server = await tcpServer((socket) => {
    const timer = setInterval(() => socket.write('.'), 5);
    socket.once('close', () => clearInterval(timer));
  });
  expect(await check({ host: server.host, expect: 'hello' }, { overOnce: hasHeard })).toMatchObject({
    failure: { code: 'answer' },
  });
});

test('a target that resets is reset', async () => {
  await using server = await tcpServer((socket) => socket.once('data', () => socket.resetAndDestroy()));
  expect(await check({ host: server.host, send: 'hello', expect: 'hello' })).toMatchObject({
    status: 'down',
    failure: { code: 'reset' },
  });
});

test('an endless answer is cut off at 64 KiB', async () => {
  await using server = await tcpServer((socket) => {
    const pour = () => {
      while (!socket.destroyed && socket.write('x'.repeat(8_192)));
    };
    socket.on('drain', pour);
    pour();
  });
  expect(await check({ host: server.host, expect: 'hello' })).toMatchObject({
    status: 'down',
    failure: { code: 'answer', message: expect.stringContaining('65536') },
  });
});

test('rejects with the reason when it is aborted, and leaves nothing open', async () => {
  await using server = await tcpServer(() => {});
  const controller = new AbortController();
  const checking = check({ host: server.host, expect: 'hello' }, { signal: controller.signal });
  setImmediate(() => controller.abort(new Error('enough')));
  await expect(checking).rejects.toThrow('enough');
});

test('TLS with a certificate that is good', async () => {
  const authority = await issueAuthority();
  const server = await issue({ names: ['a.example'], ips: ['127.0.0.1'], ca: authority });
  await using listening = await tlsServer(server, (socket) => socket.end('secret'));
  const outcome = await check({
    host: listening.host,
    tls: { ca: authority.cert, server_name: 'a.example' },
    expect: 'secret',
  });
  expect(outcome).toMatchObject({
    status: 'up',
    detail: {
      answer: 'secret',
      tls: {
        protocol: 'TLSv1.3',
        certificate: {
          subject: 'CN=Test server',
          issuer: 'CN=Test authority',
          names: ['a.example', '127.0.0.1'],
          chain: [{ subject: 'CN=Test authority' }],
        },
      },
    },
  });
  expect(outcome.phases.tls).toBeGreaterThan(0);
  expect(outcome.facts.certificate_expires_at).toBeGreaterThan(Date.now() / 1_000);
  const byAddress = await check({ host: listening.host, tls: { ca: authority.cert } });
  expect(byAddress).toMatchObject({ status: 'up' });
});

test.each([
  ['self-signed', {}, 'certificate_untrusted', 'self-signed'],
  ['expired', { days: [-9, -1] as const, names: ['a.example'] }, 'certificate_expired', 'expired on'],
  ['not yet valid', { days: [1, 9] as const, names: ['a.example'] }, 'certificate_expired', 'not valid before'],
])('a %s certificate is named', async (_, wishes, code, words) => {
  const made = await issue(wishes);
  await using listening = await tlsServer(made, (socket) => socket.end('secret'));
  const outcome = await check({ host: listening.host, tls: { server_name: 'a.example' } });
  expect(outcome).toMatchObject({
    status: 'down',
    failure: { source: 'target', code, message: expect.stringContaining(words) },
    detail: { tls: { certificate: { subject: 'CN=Test server' } } },
  });
  expect(await check({ host: listening.host, tls: { verify: false }, expect: 'secret' })).toMatchObject({
    status: 'up',
  });
});

test('an expired certificate of a known authority is named, and so is a wrong name', async () => {
  const authority = await issueAuthority();
  const expired = await issue({ names: ['a.example'], days: [-9, -1], ca: authority });
  await using old = await tlsServer(expired, () => {});
  const tls = { ca: authority.cert, server_name: 'a.example' };
  expect(await check({ host: old.host, tls })).toMatchObject({ failure: { code: 'certificate_expired' } });
  const other = await issue({ names: ['b.example'], ca: authority });
  await using wrong = await tlsServer(other, () => {});
  expect(await check({ host: wrong.host, tls })).toMatchObject({
    failure: { code: 'certificate_name', message: 'the certificate is not for a.example but for b.example' },
  });
});

test.each([
  ['answers something else', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
  ['closes', ''],
])('TLS with a target that %s is a TLS failure', async (_, answer) => {
  await using server = await tcpServer((socket) => socket.end(answer));
  expect(await check({ host: server.host, tls: true })).toMatchObject({ status: 'down', failure: { code: 'tls' } });
});

test('TLS with a silent target times out', async () => {
  await using server = await tcpServer(() => {});
  expect(await check({ host: server.host, tls: true }, { overOnce: hasSpoken })).toMatchObject({
    status: 'down',
    failure: { code: 'timeout', message: 'no TLS handshake within 30s' },
  });
});

test('a server that is too old for the wish is a TLS failure', async () => {
  const made = await issue({ names: ['a.example'] });
  await using listening = await tlsServer({ ...made, maxVersion: 'TLSv1.2' }, () => {});
  expect(await check({ host: listening.host, tls: { min_version: 'TLSv1.3' } })).toMatchObject({
    failure: { code: 'tls' },
  });
});

test('a weak key has words', async () => {
  const made = await issue({ names: ['a.example'], weakKey: true });
  await using listening = await tlsServer({ ...made, ciphers: 'DEFAULT@SECLEVEL=0' }, () => {});
  const tls = { ca: made.cert, server_name: 'a.example' };
  expect(await check({ host: listening.host, tls })).toMatchObject({
    failure: {
      code: 'certificate_untrusted',
      message: 'the certificate is not trusted: its key is too weak (1024 bits)',
    },
  });
});

test('a server that demands a client certificate is at fault itself, also where it says so after the handshake', async () => {
  const made = await issue({ names: ['a.example'] });
  await using listening = await tlsServer({ ...made, requestCert: true, rejectUnauthorized: true }, () => {});
  expect(await check({ host: listening.host, tls: { verify: false }, expect: 'hello' })).toMatchObject({
    status: 'down',
    failure: { source: 'target', code: 'tls', message: expect.stringMatching(/^TLS failed: .*certificate required/) },
  });
});

test('so is one that breaks off the encryption', async () => {
  const made = await issue({ names: ['a.example'] });
  await using inner = await tlsServer(made, () => {});
  await using broken = await tcpServer((socket) => {
    const behind = connect(inner.port, '127.0.0.1');
    // The relay's own.
    opened = opened.filter((one) => one !== behind);
    socket.on('close', () => behind.destroy());
    behind.on('error', () => socket.destroy());
    socket.pipe(behind, { end: false });
    let seen = 0;
    behind.on('data', (bytes: Buffer) => {
      socket.write(bytes);
      seen += bytes.length;
      // A record of the right form that nobody can decrypt.
      if (seen > 1_000) setImmediate(() => socket.write(Buffer.from(`1703030020${'00'.repeat(32)}`, 'hex')));
    });
  });
  expect(await check({ host: broken.host, tls: { verify: false }, expect: 'hello' })).toMatchObject({
    status: 'down',
    failure: { source: 'target', code: 'tls' },
  });
});
