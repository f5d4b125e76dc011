import { readFileSync } from 'node:fs';
import type { TestContext } from 'vitest';
import { expect, test } from 'vitest';
import { probeOnce } from '../../support/probe-once.ts';
import { needsProgram } from '../../support/programs.ts';
import { makeKey, startSsh } from '../../support/ssh-server.ts';

// Debian's own OpenSSH.

function needsServer(context: TestContext): void {
  if (process.getuid?.() !== 0) context.skip('a login by OpenSSH takes root');
  needsProgram(context, '/usr/sbin/sshd', 'openssh-server');
}

const stranger = `SHA256:${'A'.repeat(43)}`;

test('the host key is compared, without a login', async (context) => {
  needsServer(context);
  await using server = await startSsh();
  const { host, fingerprints } = server;
  const ask = async (more: object) => probeOnce('ssh', { host, ...more });
  expect(await ask({ host_key: fingerprints.ed25519 })).toMatchObject({
    status: 'up',
    seconds: expect.any(Number),
    phases: { connect: expect.any(Number), login: expect.any(Number) },
    detail: {
      server: expect.stringMatching(/^SSH-2\.0-OpenSSH_/),
      host_key: fingerprints.ed25519,
      host_key_type: 'ssh-ed25519',
      value: null,
      exit: null,
    },
  });
  expect((await ask({})).phases).not.toHaveProperty('query');
  expect(await ask({ host_key: [stranger, fingerprints.ed25519] })).toMatchObject({ status: 'up' });
  expect(await ask({ host_key: stranger })).toMatchObject({
    status: 'down',
    failure: {
      source: 'target',
      code: 'answer',
      message: `the host key is ${fingerprints.ed25519} (ssh-ed25519), expected ${stranger}`,
    },
    detail: { host_key: fingerprints.ed25519 },
  });
  expect(await ask({ expect: { latency: '1ms' } })).toMatchObject({ status: 'down', failure: { code: 'slow' } });
});

test.skipIf(process.getuid?.() !== 0).each([
  ['ecdsa', 'ecdsa-sha2-nistp256'],
  ['rsa', 'ssh-rsa'],
] as const)('a server whose only host key is %s', async (kind, type) => {
  await using server = await startSsh([kind]);
  expect(await probeOnce('ssh', { host: server.host, host_key: server.fingerprints[kind] })).toMatchObject({
    status: 'up',
    detail: { host_key_type: type },
  });
});

test('a login with a key, and a command with what it must give', async (context) => {
  needsServer(context);
  await using server = await startSsh();
  const { host, key, fingerprints, folder } = server;
  const login = { host, username: 'root', key, host_key: fingerprints.ed25519 };
  const ask = async (more: object) => probeOnce('ssh', { ...login, ...more });
  expect(await ask({})).toMatchObject({ status: 'up', detail: { value: null } });
  expect(await ask({ command: 'echo 41 42', expect: { regex: '42$' } })).toMatchObject({
    status: 'up',
    phases: { login: expect.any(Number), query: expect.any(Number) },
    detail: { value: '41 42', exit: 0 },
  });
  expect(await ask({ command: 'echo 15', expect: { max: 10 } })).toMatchObject({
    status: 'down',
    failure: { code: 'answer', message: 'the value is "15", expected at most 10' },
  });
  expect(await ask({ command: 'echo full >&2; exit 3' })).toMatchObject({
    status: 'down',
    failure: { source: 'target', code: 'exit', message: 'the command ended with exit code 3: full' },
    detail: { exit: 3 },
  });
  expect(await ask({ command: 'exit 3', expect: { exit: 3 } })).toMatchObject({ status: 'up' });
  expect(await ask({ command: 'kill -TERM $$' })).toMatchObject({
    failure: { code: 'exit', message: 'the command was ended by SIGTERM' },
  });
  expect(await ask({ command: 'cat' })).toMatchObject({ status: 'up' });
  expect(await ask({ command: 'yes' })).toMatchObject({ status: 'down', failure: { code: 'too_large' } });
  expect(await ask({ command: 'sleep 5', timeout: '1s' })).toMatchObject({
    status: 'down',
    failure: { code: 'timeout', message: 'no answer to the query within 1s' },
  });
  const other = readFileSync(makeKey(folder, 'other'), 'utf8');
  expect(await ask({ key: other })).toMatchObject({
    status: 'down',
    failure: { source: 'target', code: 'status', message: expect.stringContaining('the server refused the login') },
  });
  // Nothing is proved to a server that has another key.
  expect(await ask({ host_key: stranger })).toMatchObject({ status: 'down', failure: { code: 'answer' } });
});

test('a frozen server, and one that has ended', async (context) => {
  needsServer(context);
  await using server = await startSsh();
  server.freeze();
  const { host } = server;
  expect(await probeOnce('ssh', { host, timeout: '500ms' })).toMatchObject({
    status: 'down',
    phases: { connect: expect.any(Number) },
    failure: { code: 'timeout', message: 'the server did not finish the login within 500ms' },
  });
  server.thaw();
  await expect.poll(async () => probeOnce('ssh', { host })).toMatchObject({ status: 'up' });
  await server[Symbol.asyncDispose]();
  expect(await probeOnce('ssh', { host })).toMatchObject({ status: 'down', failure: { code: 'refused' } });
});

test('a key of every kind is read, and one with a passphrase refused', async (context) => {
  needsServer(context);
  await using server = await startSsh(['ed25519']);
  for (const kind of ['ecdsa', 'rsa'] as const) {
    const key = readFileSync(makeKey(server.folder, `client_${kind}`, kind), 'utf8');
    expect(await probeOnce('ssh', { host: server.host, username: 'root', key })).toMatchObject({
      failure: { code: 'status' },
    });
  }
  const locked = readFileSync(makeKey(server.folder, 'locked', 'ed25519', 'secret'), 'utf8');
  await expect(probeOnce('ssh', { host: server.host, username: 'root', key: locked })).rejects.toThrow(
    'is encrypted with a passphrase',
  );
});
