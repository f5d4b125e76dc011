import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { mortal } from './children.ts';
import { closedPort } from './tcp-servers.ts';

const run = promisify(execFile);

const zone = (name: string) => `${name}. 300 IN SOA ns.${name}. admin.${name}. 1 300 300 30000 300
${name}. 300 IN NS ns.${name}.
ns.${name}. 300 IN A 192.0.2.53
www.${name}. 300 IN A 192.0.2.80
`;

export interface ValidatingResolver extends AsyncDisposable {
  /** `signed.test` is signed and trusted, `bogus.test` has records that were changed afterwards, `plain.test` is not signed. */
  readonly address: string;
}

/** Unbound, which validates zones that ldns has signed. */
export async function startValidatingResolver(): Promise<ValidatingResolver> {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'watchpost-dnssec-'));
  stack.defer(async () => rm(folder, { recursive: true, force: true }));
  const anchors: string[] = [];
  for (const name of ['signed.test', 'bogus.test']) {
    const key = async (...options: readonly string[]) =>
      (await run('ldns-keygen', ['-a', 'ECDSAP256SHA256', ...options, name], { cwd: folder })).stdout.trim();
    const [signing, zoneKey] = [await key('-k'), await key()];
    await writeFile(join(folder, name), zone(name));
    await run('ldns-signzone', ['-f', `${name}.signed`, name, signing, zoneKey], { cwd: folder });
    anchors.push(await readFile(join(folder, `${signing}.key`), 'utf8'));
  }
  const bogus = join(folder, 'bogus.test.signed');
  await writeFile(bogus, (await readFile(bogus, 'utf8')).replace('192.0.2.80', '203.0.113.80'));
  await writeFile(join(folder, 'plain.test.signed'), zone('plain.test'));
  await writeFile(join(folder, 'anchors'), anchors.join(''));
  const port = await closedPort();
  const zones = ['signed.test', 'bogus.test', 'plain.test'].map(
    (name) => `auth-zone:
  name: "${name}"
  zonefile: "${join(folder, `${name}.signed`)}"
  for-downstream: no
  for-upstream: yes
  fallback-enabled: no
`,
  );
  const config = join(folder, 'unbound.conf');
  await writeFile(
    config,
    `server:
  interface: 127.0.0.1
  port: ${port}
  username: ""
  chroot: ""
  directory: "${folder}"
  pidfile: ""
  use-syslog: no
  module-config: "validator iterator"
  trust-anchor-file: "${join(folder, 'anchors')}"
  local-zone: "test." nodefault
remote-control:
  control-enable: no
${zones.join('')}`,
  );
  const child = mortal(spawn('unbound', ['-d', '-c', config], { stdio: 'ignore' }));
  stack.defer(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill();
    await once(child, 'exit');
  });
  const held = stack.move();
  return { address: `127.0.0.1:${port}`, [Symbol.asyncDispose]: async () => held.disposeAsync() };
}
