import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { issue, issueAuthority } from '../support/certificates.ts';
import { makeKeyPair } from '#transport/nats/keys.ts';
import { permissionsFile } from '#transport/nats/permissions.ts';
import { natsObstacle } from '../support/nats-server.ts';
import { eventually } from '../support/program.ts';
import { mortal } from '../support/children.ts';
import { closedPort } from '../support/tcp-servers.ts';
import { testedProgram } from '../support/tested-program.ts';

// Everything as operators run it: nats-server with TLS, the hub and the nodes are processes of their own.

const root = new URL('../../', import.meta.url).pathname;
const obstacle = natsObstacle();

interface CliResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function cli(...args: readonly string[]): Promise<CliResult> {
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [testedProgram, ...args]);
    return { code: 0, out: stdout, err: stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, out: stdout, err: stderr };
  }
}

test.skipIf(obstacle !== null)(
  `nodes are enrolled, serve, are killed, come back, are renamed and revoked${obstacle === null ? '' : ` (${obstacle})`}`,
  async () => {
    await using stack = new AsyncDisposableStack();
    const folder = mkdtempSync(join(tmpdir(), 'watchpost-nodes-'));
    stack.defer(() => rmSync(folder, { recursive: true, force: true }));
    const file = (name: string) => join(folder, name);
    const children: ChildProcess[] = [];
    stack.defer(async () => {
      for (const child of children) {
        if (child.exitCode !== null || child.signalCode !== null) continue;
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
    });
    const start = (name: string, command: string, args: readonly string[]): ChildProcess => {
      const child = mortal(
        spawn('sh', ['-c', `exec "$@" 2>>${file(`${name}.log`)}`, 'sh', command, ...args], {
          stdio: 'ignore',
        }),
      );
      children.push(child);
      return child;
    };

    const [port, httpPort] = [await closedPort(), await closedPort()];
    const authority = await issueAuthority();
    const certificate = await issue({ names: ['localhost'], ips: ['127.0.0.1'], ca: authority });
    writeFileSync(file('ca.pem'), authority.cert);
    writeFileSync(file('server.pem'), certificate.cert);
    writeFileSync(file('server.key'), certificate.key);
    writeFileSync(
      file('nats.conf'),
      `listen: "127.0.0.1:${port}"\npid_file: "${file('nats.pid')}"\n` +
        `tls { cert_file: "${file('server.pem')}", key_file: "${file('server.key')}" }\n` +
        'authorization { include "nodes/nodes.conf" }\n',
    );
    const config = ['--config', file('watchpost.yaml')];
    const url = `http://127.0.0.1:${httpPort}`;
    writeFileSync(
      file('watchpost.yaml'),
      `data: watchpost.db\nhttp: { listen: "127.0.0.1:${httpPort}" }\nnodes: {}\nservice: { allow_private: true }\n` +
        `nats: { servers: ["tls://localhost:${port}"], ca_file: ca.pem }\n`,
    );

    expect(await cli('nodes', 'add', 'us1', ...config)).toMatchObject({
      code: 2,
      err: expect.stringContaining('watchpost nodes init'),
    });
    expect(await cli('nodes', 'init', ...config)).toMatchObject({ code: 0 });
    expect(statSync(file('hub.nk')).mode & 0o777).toBe(0o600);
    start('nats', 'nats-server', ['--config', file('nats.conf')]);
    await eventually(30_000, () => statSync(file('nats.pid')));
    const reload = [...config, '--pid-file', file('nats.pid')];
    const seeds = new Map<string, string>();
    for (const name of ['us1', 'de1']) {
      const { code, out } = await cli(
        'nodes',
        'add',
        name,
        ...reload,
        '--location',
        `${name.slice(0, 2)},X,"Some Town"`,
      );
      expect(code).toBe(0);
      seeds.set(name, /SU[A-Z2-7]{56}/.exec(out)?.[0] ?? '');
      expect(
        readFileSync(file('nodes/nodes.json'), 'utf8') + readFileSync(file('nodes/nodes.conf'), 'utf8'),
      ).not.toContain(seeds.get(name));
    }
    expect(await cli('nodes', 'add', 'us1', ...reload)).toMatchObject({
      code: 2,
      err: expect.stringContaining('enrolled already'),
    });
    expect(await cli('nodes', 'add', 'mars', ...reload)).toMatchObject({ code: 2 });

    const hub = start('hub', process.execPath, [testedProgram, 'run', ...config]);
    const startNode = (key: string, name = key): ChildProcess => {
      writeFileSync(
        file(`${name}.yaml`),
        `name: ${name}\nservers: ["tls://localhost:${port}"]\nca_file: ca.pem\nspool_file: ${name}.db\nallow_private: true\nexit_when_refused: 1s\nseed: ${seeds.get(key)}\n`,
      );
      return start(name, process.execPath, [testedProgram, 'node', '--config', file(`${name}.yaml`)]);
    };
    const us1 = startNode('us1');
    const de1 = startNode('de1');

    const get = async (path: string) => (await fetch(`${url}${path}`)).json() as Promise<Record<string, unknown>>;
    const check = async () => {
      const { request_id: id } = await get(`/check-tcp?host=127.0.0.1:${httpPort}&max_nodes=2`);
      const results = await get(`/check-result/${String(id)}?wait=10`);
      return { results };
    };
    const up = [{ address: '127.0.0.1', time: expect.any(Number) }];
    await eventually(30_000, async () => {
      expect((await check()).results).toEqual({ 'us1.node.watchpost.internal': up, 'de1.node.watchpost.internal': up });
    });
    expect((await cli('nodes', 'list', ...config)).out).toMatch(
      /^us1 +Some Town, X +online +\d+\.\d+\.\d+ +1 +[+-]\d/m,
    );

    us1.kill('SIGKILL');
    await once(us1, 'exit');
    const { results } = await check();
    expect(results).toEqual({
      'us1.node.watchpost.internal': [null, { message: expect.stringContaining('not connected') }],
      'de1.node.watchpost.internal': up,
    });
    const again = startNode('us1');
    await eventually(30_000, async () =>
      expect((await check()).results).toMatchObject({ 'us1.node.watchpost.internal': up }),
    );

    expect(await cli('nodes', 'rename', 'de1', 'fr1', ...reload)).toMatchObject({ code: 0 });
    expect((await once(de1, 'exit'))[0]).toBe(77);
    startNode('de1', 'fr1');
    await eventually(30_000, async () =>
      expect((await check()).results).toMatchObject({ 'fr1.node.watchpost.internal': up }),
    );

    expect(await cli('nodes', 'revoke', 'us1', ...reload)).toMatchObject({ code: 0 });
    expect((await once(again, 'exit'))[0]).toBe(77);
    expect(readFileSync(file('us1.log'), 'utf8')).toContain('node us1 was revoked');
    await eventually(30_000, async () =>
      expect(Object.keys((await check()).results)).toEqual(['fr1.node.watchpost.internal']),
    );

    hub.kill('SIGTERM');
    expect((await once(hub, 'exit'))[0]).toBe(0);
    const { out, err } = await cli('nodes', 'list', ...config);
    expect(out).toMatch(/^fr1 +Some Town, X +not known/m);
    expect(err).toContain('cannot read their state from the hub');
  },
);

test.skipIf(obstacle !== null).each(['nats.conf', 'hubs.nats.conf'])('nats-server takes config/%s', async (name) => {
  const folder = mkdtempSync(join(tmpdir(), 'watchpost-nats-conf-'));
  const { cert, key } = await issue({ names: ['localhost'] });
  mkdirSync(join(folder, 'nodes'));
  writeFileSync(join(folder, 'nats.pem'), cert);
  writeFileSync(join(folder, 'nats.key'), key);
  writeFileSync(
    join(folder, 'nodes/nodes.conf'),
    permissionsFile([{ name: null, key: makeKeyPair().key }], [{ name: 'us1', key: makeKeyPair().key }]),
  );
  writeFileSync(join(folder, 'nats-ca.pem'), cert);
  for (const file of new Set(['nats.conf', name])) {
    const shipped = readFileSync(join(root, 'config', file), 'utf8');
    writeFileSync(join(folder, file), shipped.replaceAll('/run/secrets', folder).replaceAll('/data', folder));
  }
  const { stderr } = await promisify(execFile)('nats-server', ['-t', '--config', join(folder, name)]);
  rmSync(folder, { recursive: true });
  expect(stderr).toContain('configuration file');
});

test('a node says everything that is wrong with its settings', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'watchpost-node-'));
  const path = join(folder, 'node.yaml');
  writeFileSync(path, 'name: berlin\nserver: [tls://a]\ndeny: [10.0.0.0/99]\nspool_age: 5\n');
  const { code, err } = await cli('node', '--config', path, '--in-flight', 'many', '--servers', 'nats.example.com');
  rmSync(folder, { recursive: true });
  expect(code).toBe(2);
  expect(err.replaceAll(`${folder}/`, '').trimEnd().split('\n').sort()).toEqual([
    '--in-flight: expected a number',
    '--servers: expected tls://host, nats://host, wss://host or ws://host, with a port if it is not the default one',
    'node.yaml:1:1: seed_file: set exactly one of seed_file and seed',
    'node.yaml:1:7: name: the name of a node is two lower-case letters and a number, such as "de1" (found "berlin")',
    expect.stringMatching(/^node.yaml:2:1: server: unknown key \(did you mean "servers"\?\)/),
    expect.stringMatching(/^node.yaml:3:8: deny\[0\]: expected an address or a range/),
    expect.stringMatching(/^node.yaml:4:12: spool_age: expected a duration/),
  ]);
});
