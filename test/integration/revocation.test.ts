import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { expect, test } from 'vitest';
import { createProgram, eventually } from '../support/program.ts';
import { startRevokingAuthority } from '../support/revoking-authority.ts';

test('the daemon asks issuers about certificates, and notifies that one was revoked', async () => {
  await using authority = await startRevokingAuthority();
  await using stack = new AsyncDisposableStack();
  const serve = async (name: string) => {
    const server = createServer(authority.issue(name, 'lists'), (socket) => socket.end());
    stack.defer(() => void server.close());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const [good, bad] = [await serve('good'), await serve('bad')];
  authority.revoke('bad');
  const list = authority.list();
  authority.answer = (_request, response) => response.end(list);
  await using program = await createProgram();
  const { url } = await program.start(`
data: watchpost.db
http: { listen: 127.0.0.1:0 }
defaults: { every: 1s, notify: [ops] }
notify: { ops: { email: { to: [ops@example.com] }, group_wait: 0s, group_interval: 0s } }
targets:
  good: { check: tls, host: "${good}", ca: ${JSON.stringify(authority.cert)}, expect: { not_revoked: true } }
  bad: { check: tls, host: "${bad}", ca: ${JSON.stringify(authority.cert)}, expect: { not_revoked: true } }
`);
  const mails = () =>
    globSync('mail/*.eml', { cwd: program.folder }).map((name) =>
      readFileSync(join(program.folder, name), 'utf8').replaceAll(/=\r?\n/g, ''),
    );
  await eventually(60_000, () => expect(mails()).toHaveLength(1));
  expect(mails()[0]).toMatch(/the certificate was revoked on 20/);
  await eventually(30_000, async () =>
    expect(await (await fetch(`${url}/metrics`)).text()).toMatch(/^watchpost_up\{target="good",.*\} 1$/m),
  );
  // Many checks, and one question about each certificate.
  expect(authority.asked).toEqual(['GET /all.crl', 'GET /all.crl']);
}, 120_000);
