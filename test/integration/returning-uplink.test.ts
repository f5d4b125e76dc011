import { once } from 'node:events';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import PostalMime from 'postal-mime';
import { expect, test } from 'vitest';
import { createNetworkNamespace, namespaceObstacle, type NetworkNamespace } from '../support/network-namespace.ts';
import { eventually, query } from '../support/program.ts';

// The own link is gone for a few seconds, and routes return one after the other. All targets are well all the time.

const why = namespaceObstacle();
const program = fileURLToPath(new URL('../../src/watchpost.js', import.meta.url));
const names = Array.from({ length: 12 }, (_, index) => `t${index}`);
const isSix = (name: string) => Number(name.slice(1)) % 2 === 1;
const addressOf = (name: string) =>
  isSix(name) ? `fd20::${Number(name.slice(1)) + 1}` : `10.20.0.${Number(name.slice(1)) + 1}`;
const listen = `require('node:net').createServer((one) => one.on('error', () => {})).listen(80, '::')`;

function connect(home: NetworkNamespace, world: NetworkNamespace): void {
  home.run(['ip', 'link', 'set', 'lo', 'up']);
  home.run(['ip', 'link', 'add', 'near', 'type', 'veth', 'peer', 'name', 'far', 'netns', world.name]);
  world.run(['ip', 'link', 'set', 'lo', 'up']);
  for (const address of ['10.9.0.2/24', 'fd09::2/64'])
    world.run(['ip', 'address', 'add', address, 'dev', 'far', ...(address.includes(':') ? ['nodad'] : [])]);
  world.run(['ip', 'link', 'set', 'far', 'up']);
  for (const name of names)
    world.run(['ip', 'address', 'add', addressOf(name), 'dev', 'lo', ...(isSix(name) ? ['nodad'] : [])]);
  world.start([process.execPath, '--eval', listen]);
  bringUp(home);
  for (const name of names) addRoute(home, name);
}

function bringUp(home: NetworkNamespace): void {
  home.run(['ip', 'address', 'replace', '10.9.0.1/24', 'dev', 'near']);
  home.run(['ip', 'link', 'set', 'near', 'up']);
  home.run(['ip', 'address', 'replace', 'fd09::1/64', 'dev', 'near', 'nodad']);
}

const addRoute = (home: NetworkNamespace, name: string) =>
  void home.run(['ip', 'route', 'replace', addressOf(name), 'via', isSix(name) ? 'fd09::2' : '10.9.0.2']);

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
    const child = home.start([process.execPath, program, 'run', '--config', config, '--log-level', 'fatal']);
    const database = join(folder, 'watchpost.db');
    const count = (where: string, since: number) =>
      Number(query(database, `SELECT count(*) AS n FROM results WHERE ${where} AND due_at > ${since}`)[0]?.['n'] ?? 0);
    const seen = async (atLeast: number, where: string, since: number) =>
      eventually(30_000, () => {
        if (count(where, since) < atLeast) throw new Error(`not yet: ${where}`);
      });
    await seen(3 * names.length, 'status = 0', 0);
    for (let times = 0; times < 2; times += 1) {
      const lostAt = Date.now();
      home.run(['ip', 'link', 'set', 'near', 'down']);
      await seen(names.length, 'status = 2', lostAt);
      bringUp(home);
      for (const name of names) {
        const before = Date.now();
        addRoute(home, name);
        await seen(2, '1 = 1', before);
      }
      await seen(2 * names.length, 'status = 0', Date.now());
    }
    const exit = once(child, 'exit');
    child.kill('SIGTERM');
    await exit;
    const mails = globSync(join(folder, 'mail', '*.eml'));
    const subjects = await Promise.all(mails.map(async (file) => (await PostalMime.parse(readFileSync(file))).subject));
    expect(subjects.filter((subject) => subject?.startsWith('[DOWN]'))).toEqual([]);
  },
);
