import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { commandHere } from '../../support/command.ts';
import { makeKumaDatabase } from '../../support/kuma-database.ts';
import { kumaTables } from '../../support/kuma-rows.ts';

// Containers of Uptime Kuma, and SSH of Gatus.

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'watchpost-import-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

async function imported(source: string, file: string) {
  const to = join(folder, `${source}-${file}`, 'watchpost.yaml');
  const { code, out, err } = await commandHere(['import', source, join(folder, file), '--to', to]);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return { config: parse(await readFile(to, 'utf8')) as unknown, list: out, to };
}

const containerAt = (id: number, host: number | null) => ({
  id,
  name: `c${id}`,
  type: 'docker',
  docker_container: `web-${id}`,
  docker_host: host,
  interval: 60,
});

test('containers at the first socket become checks, and those elsewhere are left out with the reason', async () => {
  const monitor = [containerAt(1, 1), containerAt(2, 2), containerAt(3, 3), containerAt(4, null), containerAt(5, 9)];
  makeKumaDatabase(join(folder, 'kuma.db'), 2, { monitor, docker_host: kumaTables['docker_host'] ?? [] });
  const { config, list } = await imported('kuma', 'kuma.db');
  expect(config).toMatchObject({
    docker_socket: '/run/kuma/docker.sock',
    targets: { c1: { check: 'docker', host: 'web-1', expect: { state: ['running', 'paused', 'restarting'] } } },
  });
  expect(list.split('\n').filter((line) => line.startsWith('kuma.db monitor'))).toEqual([
    'kuma.db monitor 1: differs: c1: it is asked by the nodes in this process at /run/kuma/docker.sock; others need docker_socket of their own',
    'kuma.db monitor 1: differs: c1: a container that is unhealthy is down, not pending, and one whose health check has yet to pass is up',
    'kuma.db monitor 2: left out: c2: its container engine is at tcp://192.0.2.5:2375: nodes ask by a socket only',
    'kuma.db monitor 3: left out: c3: its container engine is at /run/podman/podman.sock, and a node asks one only, here /run/kuma/docker.sock',
    'kuma.db monitor 4: left out: c4: it names no container engine',
    'kuma.db monitor 5: left out: c5: it names no container engine',
  ]);
});

test('a backup does not name the engines, so that docker_socket is named as missing', async () => {
  const monitorList = [{ id: 1, name: 'shop', type: 'docker', interval: 60, docker_container: 'web', docker_host: 1 }];
  await writeFile(join(folder, 'backup.json'), JSON.stringify({ version: '1.23.0', monitorList }));
  const { config, list, to } = await imported('kuma', 'backup.json');
  expect(config).toMatchObject({ targets: { shop: { check: 'docker', host: 'web' } } });
  expect(config).not.toHaveProperty('docker_socket');
  expect(list).toContain('at docker_socket, which has to be added: the backup does not name it;');
  const { err } = await commandHere(['config', 'check', '--config', to]);
  expect(err).toContain('shop needs docker_socket, which is not set: zz1');
});

test('an endpoint of Gatus that signs in by SSH becomes a check with its key, or of the key exchange, and says what is lost', async () => {
  const { privateKey } = generateKeyPairSync('ed25519');
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  await writeFile(
    join(folder, 'gatus.yaml'),
    `endpoints:
  - { name: signs in, url: "ssh://shop.example.com:2222", ssh: { username: ops, password: x }, body: '{"command":"uptime"}', conditions: ["[STATUS] == 0"] }
  - { name: banner, url: "ssh://shop.example.com", conditions: ["[CONNECTED] == true"] }
  - name: by key
    url: "ssh://shop.example.com"
    ssh: { username: ops, private-key: ${JSON.stringify(key)} }
    body: '{"command":"uptime -p"}'
    conditions: ["[STATUS] == 3", "[BODY] == pat(up*)"]
  - { name: locked, url: "ssh://shop.example.com", ssh: { username: ops, private-key: x, passphrase: y } }
`,
  );
  const { config, list } = await imported('gatus', 'gatus.yaml');
  expect(config).toMatchObject({
    targets: {
      'signs-in': { check: 'ssh', host: 'shop.example.com:2222' },
      'by-key': {
        check: 'ssh',
        username: 'ops',
        key,
        command: 'uptime -p',
        expect: { exit: 3, regex: expect.stringContaining('up') },
      },
      locked: { check: 'ssh', host: 'shop.example.com:22' },
      banner: { check: 'tcp', host: 'shop.example.com:22', expect: { regex: '^SSH-' } },
    },
  });
  expect(list).toMatch(/lost: signs in: signing in and running a command: ssh logs in by a key without a passphrase/);
  expect(JSON.stringify(config)).not.toContain('password');
});
