import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commandHere } from '../support/command.ts';
import { natsObstacle } from '../support/nats-server.ts';
import { createNetworkNamespace, namespaceObstacle, type NetworkNamespace } from '../support/network-namespace.ts';
import { eventually, query } from '../support/program.ts';
import { testedProgram } from '../support/tested-program.ts';

const program = [process.execPath, testedProgram];
const obstacle = natsObstacle() ?? namespaceObstacle();
const title = (text: string) => (obstacle === null ? text : `${text} (skipped: ${obstacle})`);

async function cli(...args: readonly string[]): Promise<string> {
  const ended = await commandHere(args);
  expect(ended).toMatchObject({ code: 0 });
  return ended.out;
}

/** Namespaces on one switch: each has the address 10.90.0.<its number> and can be cut off. */
function createNetwork(stack: AsyncDisposableStack, names: readonly string[]) {
  const hub = stack.use(createNetworkNamespace());
  hub.run(['ip', 'link', 'add', 'switch', 'type', 'bridge']);
  hub.run(['ip', 'link', 'set', 'switch', 'up']);
  const places = new Map<string, NetworkNamespace>();
  for (const [index, name] of names.entries()) {
    const place = stack.use(createNetworkNamespace());
    hub.run(['ip', 'link', 'add', name, 'type', 'veth', 'peer', 'name', 'up0', 'netns', place.name]);
    hub.run(['ip', 'link', 'set', name, 'master', 'switch', 'up']);
    place.run(['ip', 'link', 'set', 'lo', 'up']);
    place.run(['ip', 'address', 'add', `10.90.0.${index + 1}/24`, 'dev', 'up0']);
    place.run(['ip', 'link', 'set', 'up0', 'up']);
    places.set(name, place);
  }
  const at = (name: string): NetworkNamespace => {
    const place = places.get(name);
    if (place === undefined) throw new Error(`no place ${name}`);
    return place;
  };
  return {
    at,
    address: (name: string) => `10.90.0.${names.indexOf(name) + 1}`,
    cut: (name: string) => hub.run(['ip', 'link', 'set', name, 'down']),
    mend: (name: string) => hub.run(['ip', 'link', 'set', name, 'up']),
  };
}

async function ends(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return child.exitCode;
}

test.skipIf(obstacle !== null)(
  title('with hub, NATS and three nodes on networks of their own, a cut link pages nobody and a blind node is partial'),
  async () => {
    await using stack = new AsyncDisposableStack();
    const folder = mkdtempSync(join(tmpdir(), 'watchpost-nodes-'));
    stack.defer(() => rmSync(folder, { recursive: true, force: true }));
    const names = ['us1', 'de1', 'jp1'];
    const network = createNetwork(stack, ['hub', 'nats', 'target', ...names]);
    const target = `${network.address('target')}:7000`;
    const config = join(folder, 'watchpost.yaml');
    const check = `check: tcp, host: "${target}", every: 1s, timeout: 500ms`;
    writeFileSync(
      config,
      [
        'data: watchpost.db',
        'http: { listen: 127.0.0.1:8080 }',
        'nodes: {}',
        `nats: { servers: ["nats://${network.address('nats')}:4222"] }`,
        'rules: { touchy: { failing: any, rounds: 2 } }',
        'notify: { ops: { email: { to: [ops@example.com] }, group_wait: 0s } }',
        'targets:',
        `  touchy: { ${check}, rules: [touchy], notify: [ops] }`,
        `  calm: { ${check}, rules: [down], notify: [ops] }`,
        '',
      ].join('\n'),
    );
    await cli('nodes', 'init', '--config', config);
    for (const name of names) {
      const printed = await cli('nodes', 'add', name, '--config', config, '--location', `${name.slice(0, 2)},X,Y`);
      writeFileSync(join(folder, `${name}.nk`), /SU[A-Z2-7]+/.exec(printed)?.[0] ?? '');
    }
    writeFileSync(
      join(folder, 'nats.conf'),
      `listen: "0.0.0.0:4222"\nping_interval: "2s"\nping_max: 2\nauthorization { include "nodes/nodes.conf" }\n`,
    );
    network.at('nats').start(['nats-server', '--config', join(folder, 'nats.conf'), '--log', join(folder, 'nats.log')]);
    const serve = `require('net').createServer((s) => s.on('error', () => {}).end()).listen(7000, '0.0.0.0')`;
    network.at('target').start([process.execPath, '-e', serve]);
    const log = (name: string) => ['sh', '-c', `exec "$@" 2>${join(folder, name)}.log`, 'sh', ...program];
    const hub = network.at('hub').start([...log('hub'), 'run', '--config', config]);
    const start = (name: string) => {
      const settings = ['--name', name, '--servers', `nats://${network.address('nats')}:4222`, '--allow-private'];
      const files = ['--seed-file', join(folder, `${name}.nk`), '--spool-file', join(folder, `${name}.db`)];
      return network.at(name).start([...log(name), 'node', ...settings, ...files]);
    };
    const nodes = names.map(start);

    const database = join(folder, 'watchpost.db');
    /** How the newest rounds went, by node. */
    const latest = (of: string) => {
      const rows = query(
        database,
        `SELECT node, status FROM history WHERE target = '${of}' AND due_at = (SELECT max(due_at) FROM history WHERE target = '${of}')`,
      );
      return Object.fromEntries(rows.map(({ node, status }) => [node, status]));
    };
    const rounds = (of: string) =>
      Number(query(database, `SELECT count(DISTINCT due_at) AS n FROM history WHERE target = '${of}'`)[0]?.['n']);
    const incidents = () => query(database, `SELECT id, rule FROM incidents`);
    await eventually(30_000, () => expect(latest('calm')).toEqual({ us1: 'up', de1: 'up', jp1: 'up' }));

    network.cut('de1');
    await eventually(30_000, () => expect(latest('touchy')).toEqual({ us1: 'up', de1: 'unknown', jp1: 'up' }));
    const before = rounds('touchy');
    await eventually(30_000, () => expect(rounds('touchy')).toBeGreaterThan(before + 2));
    expect(latest('touchy')).toEqual({ us1: 'up', de1: 'unknown', jp1: 'up' });
    expect(incidents()).toEqual([]);
    network.mend('de1');
    await eventually(30_000, () => expect(latest('calm')).toEqual({ us1: 'up', de1: 'up', jp1: 'up' }));
    expect(incidents()).toEqual([]);

    network.at('target').run(['ip', 'route', 'add', 'blackhole', `${network.address('jp1')}/32`]);
    await eventually(30_000, () => expect(latest('calm')).toEqual({ us1: 'up', de1: 'up', jp1: 'down' }));
    await eventually(30_000, () => expect(incidents()).toMatchObject([{ rule: 'touchy' }]));
    const metrics = network.at('hub').run(['curl', '--silent', 'http://127.0.0.1:8080/metrics']);
    expect(metrics).toContain('watchpost_target_state{target="calm",state="partial"} 1');
    expect(metrics).toContain('watchpost_node_up{node="jp1"} 1');

    hub.kill('SIGTERM');
    for (const node of nodes) node.kill('SIGTERM');
    expect(await Promise.all([hub, ...nodes].map(ends))).toEqual([0, 0, 0, 0]);
    expect(existsSync(join(folder, 'mail')) ? readdirSync(join(folder, 'mail')).length : 0).toBe(1);
    expect(readFileSync(join(folder, 'hub.log'), 'utf8')).not.toContain('"level":60');
  },
);
