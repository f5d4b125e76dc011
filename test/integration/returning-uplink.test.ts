import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mailsIn } from '../support/mail-files.ts';
import { createNetworkNamespace, namespaceObstacle, type NetworkNamespace } from '../support/network-namespace.ts';
import { eventually, query } from '../support/program.ts';
import { testedProgram } from '../support/tested-program.ts';

// The own cable is out for a few seconds, and the ways to the targets return in steps. All targets are well all the time.

const why = namespaceObstacle();
const names = Array.from({ length: 12 }, (_, index) => `t${index}`);
const isSix = (name: string) => Number(name.slice(1)) % 2 === 1;
const addressOf = (name: string) =>
  isSix(name) ? `fd20::${Number(name.slice(1)) + 1}` : `10.20.0.${Number(name.slice(1)) + 1}`;
const listen = `require('node:net').createServer((one) => one.on('error', () => {})).listen(80, '::')`;

function connect(home: NetworkNamespace, world: NetworkNamespace): void {
  home.run(['ip', 'link', 'set', 'lo', 'up']);
  home.run(['ip', 'link', 'add', 'near', 'type', 'veth', 'peer', 'name', 'far', 'netns', world.name]);
  world.run(['ip', 'link', 'set', 'lo', 'up']);
  for (const name of names) reach(world, 'replace', name);
  world.start([process.execPath, '--eval', listen]);
  home.run(['ip', 'address', 'add', '10.9.0.1/24', 'dev', 'near']);
  home.run(['ip', 'address', 'add', 'fd09::1/64', 'dev', 'near', 'nodad']);
  home.run(['ip', 'link', 'set', 'near', 'up']);
  plugIn(world);
  home.run(['ip', 'route', 'add', 'default', 'via', '10.9.0.2']);
  home.run(['ip', 'route', 'add', 'default', 'via', 'fd09::2']);
}

// The cable of the near end is out while the far end is down.
const plugOut = (world: NetworkNamespace) => void world.run(['ip', 'link', 'set', 'far', 'down']);

function plugIn(world: NetworkNamespace): void {
  world.run(['ip', 'address', 'replace', '10.9.0.2/24', 'dev', 'far']);
  world.run(['ip', 'link', 'set', 'far', 'up']);
  world.run(['ip', 'address', 'replace', 'fd09::2/64', 'dev', 'far', 'nodad']);
}

// Whether the world has a way to a target.
const reach = (world: NetworkNamespace, what: 'replace' | 'del', name: string) =>
  void world.run(['ip', 'address', what, `${addressOf(name)}/${isSix(name) ? 128 : 32}`, 'dev', 'lo']);

function configOf(folder: string): string {
  const hostOf = (name: string) => (isSix(name) ? `[${addressOf(name)}]:80` : `${addressOf(name)}:80`);
  return `data: ${folder}/watchpost.db
http: { listen: "127.0.0.1:0" }
defaults: { every: 1s }
rules: { down: { rounds: 1, recover: 1 } }
notify: { ops: { email: { to: [ops@example.com] }, group_wait: 0s, grouped: false } }
targets:
${names.map((name) => `  ${name}: { check: tcp, host: "${hostOf(name)}", timeout: 900ms }`).join('\n')}
`;
}

test.skipIf(why !== null && process.env['CI'] === undefined)(
  `a link that returns with its routes in steps brings no false DOWN with one round${why === null ? '' : ` (${why})`}`,
  { timeout: 120_000 },
  async () => {
    if (why !== null) throw new Error(why);
    const folder = mkdtempSync(join(tmpdir(), 'watchpost-link-'));
    using _ = { [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
    await using home = createNetworkNamespace();
    await using world = createNetworkNamespace();
    connect(home, world);
    const config = join(folder, 'watchpost.yaml');
    writeFileSync(config, configOf(folder));
    const child = home.start([process.execPath, testedProgram, 'run', '--config', config, '--log-level', 'fatal']);
    const database = join(folder, 'watchpost.db');
    const count = (where: string, since: number) =>
      Number(query(database, `SELECT count(*) AS n FROM results WHERE ${where} AND due_at > ${since}`)[0]?.['n'] ?? 0);
    const seen = async (atLeast: number, where: string, since: number) =>
      eventually(30_000, () => {
        if (count(where, since) < atLeast) throw new Error(`not yet: ${where}`);
      });
    await seen(3 * names.length, 'status = 0', 0);
    const [late, later] = [names.slice(4, 8), names.slice(8)];
    for (let times = 0; times < 3; times += 1) {
      plugOut(world);
      const lostAt = Date.now();
      await seen(names.length, 'status > 0', lostAt);
      for (const name of [...late, ...later]) reach(world, 'del', name);
      plugIn(world);
      for (const some of [late, later]) {
        await seen(names.length, '1 = 1', Date.now());
        for (const name of some) reach(world, 'replace', name);
      }
      await seen(3 * names.length, 'status = 0', Date.now());
    }
    const exit = once(child, 'exit');
    child.kill('SIGTERM');
    await exit;
    const subjects = (await mailsIn(folder)).map(({ subject }) => subject);
    expect(subjects.filter((subject) => subject?.startsWith('[DOWN]'))).toEqual([]);
  },
);
