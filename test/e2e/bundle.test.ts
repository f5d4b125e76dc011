import { spawn } from 'node:child_process';
import { globSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { probedTypeNames } from '#checks/index.ts';
import { shapesOf } from '#cli/shared/commands.ts';
import { createProgram as createCommands } from '#cli/program.ts';
import { type BundledProgram, bundleProgram } from '../support/bundled-program.ts';
import { mortal } from '../support/children.ts';
import { command, commandHere } from '../support/command.ts';
import { natsObstacle, startNats } from '../support/nats-server.ts';
import { createProgram, eventually, query } from '../support/program.ts';
import { silentContext } from '../support/silent-context.ts';
import { tcpServer } from '../support/tcp-servers.ts';

// What a bundle may lack shows only where it is used.

const root = new URL('../../', import.meta.url).pathname;
const why = natsObstacle();
let bundle: BundledProgram;

beforeAll(() => {
  bundle = bundleProgram();
});
afterAll(() => bundle[Symbol.dispose]());

interface Printed {
  readonly out: string;
  readonly err: string;
}

async function run(args: readonly string[]): Promise<Printed> {
  const child = mortal(spawn(process.execPath, args, { cwd: bundle.house, stdio: ['ignore', 'pipe', 'pipe'] }));
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { out, err };
}

/** The sources in a file of the bundle, `src/kernel/text.ts` or `node_modules/zod/index.js`. */
function sourcesOf(file: string): readonly string[] {
  if (!readdirSync(bundle.folder).includes(`${file}.map`)) return [];
  const { sources } = JSON.parse(readFileSync(join(bundle.folder, `${file}.map`), 'utf8')) as { sources: string[] };
  return sources.map((source) => source.replace(/^(?:\.\.\/)+/, '').replace(/^.*?(?=(?:src|node_modules)\/)/, ''));
}

test("every file of the bundle finds what it imports, and none loads Node's own undici", async () => {
  const entries = ['main.js', 'node-thread.js', 'store-chore-thread.js', 'cli-run-stop-guard-thread.js'];
  const files = globSync('*.{js,cjs}', { cwd: bundle.folder });
  expect(files).toEqual(expect.arrayContaining(entries));
  const script = files
    .filter((file) => !entries.includes(file) && !file.startsWith('web-assets-strip'))
    .map((file) => `await import('./dist/${file}');`)
    .join('\n');
  const undici = "process.moduleLoadList.filter((name) => name.includes('undici')).length";
  writeFileSync(join(bundle.house, 'all.mjs'), `${script}\nconsole.log('all', ${undici});\nprocess.exit();\n`);
  expect(await run(['all.mjs'])).toEqual({ out: 'all 0\n', err: '' });
});

/** The files that a file of the bundle imports before it does anything, in their order. */
function importsOf(file: string): readonly string[] {
  const code = readFileSync(join(bundle.folder, file), 'utf8');
  return [...code.matchAll(/\bimport(?:[\w{}$*,\s]+from)?"\.\/([^"]+)"/g)].map(([, name = '']) => name);
}

/** The files that a file of the bundle imports later, in their order. */
function laterImportsOf(file: string): readonly string[] {
  const code = readFileSync(join(bundle.folder, file), 'utf8');
  return [...code.matchAll(/\bimport\([`"]\.\/([^`"]+)[`"]\)/g)].map(([, name = '']) => name);
}

/** A file with all that it imports before it does anything. */
function withImports(...started: readonly string[]): ReadonlySet<string> {
  const files = new Set(started);
  for (const file of files) for (const imported of importsOf(file)) files.add(imported);
  return files;
}

/** What main.js imports later that has this source. */
function laterWith(source: string): string {
  return laterImportsOf('main.js').find((file) => sourcesOf(file).includes(source)) ?? source;
}

const isOfZod = (source: string) => source.startsWith('node_modules/zod/');

test('schemas are light before the first one is made', () => {
  const light = ['src/cli/run/plain-health.ts', 'src/cli/beat/plain-beat.ts'].map(laterWith);
  const program = laterWith('src/cli/run-program.ts');
  expect(laterImportsOf('main.js').toSorted()).toEqual([...light, program].toSorted());
  for (const first of ['main.js', ...light])
    expect([...withImports(first)].flatMap(sourcesOf).filter(isOfZod)).toEqual([]);
  const [first = ''] = importsOf(program);
  expect(sourcesOf(first)).toEqual(['src/kernel/light-schemas.ts']);
  for (const before of importsOf(first)) expect(sourcesOf(before)).toEqual(sourcesOf(before).filter(isOfZod));
});

test.each([
  ['asking for the health of a daemon', 'src/cli/run/plain-health.ts', 'src/cli/run/health.ts'],
  ['reporting the run of a command', 'src/cli/beat/plain-beat.ts', 'src/cli/beat/beat-post.ts'],
])('%s takes little of the bundle', (_, entry, part) => {
  const files = withImports('main.js', laterWith(entry));
  const sources = [...files].flatMap(sourcesOf);
  expect(sources).toContain(part);
  expect(sources.filter((source) => source.startsWith('node_modules/'))).toEqual([]);
  const bytes = [...files].reduce((sum, file) => sum + statSync(join(bundle.folder, file)).size, 0);
  expect(bytes).toBeLessThan(30_000);
});

test('the thread of a node loads no schemas, whatever it checks', () => {
  const probes = readdirSync(bundle.folder).filter(
    (file) => file.endsWith('.js') && sourcesOf(file).some((source) => /^src\/checks\/\w+\/probe\.ts$/.test(source)),
  );
  expect(probes.length).toBeGreaterThan(10);
  const sources = [...withImports('node-thread.js', ...probes)].flatMap(sourcesOf);
  expect(sources).toContain('src/checks/evidence/probe.ts');
  expect(sources.filter((source) => /^node_modules\/zod\/|\/light-schemas\.ts$/.test(source))).toEqual([]);
});

test('a start loads few files', () => {
  const fileOf = (source: string) =>
    readdirSync(bundle.folder).find((file) => file.endsWith('.js') && sourcesOf(file).includes(source)) ?? source;
  const program = ['main.js', laterWith('src/cli/run-program.ts')];
  for (const started of [
    [...program, fileOf('src/cli/program.ts')],
    [...program, fileOf('src/cli/run/run.ts')],
    ['node-thread.js'],
  ]) {
    const files = withImports(...started);
    expect(files.size, [...files].join(' ')).toBeLessThanOrEqual(16);
  }
});

test('every command has the help that it has in a checkout', async () => {
  const shapes = shapesOf(createCommands(silentContext(), () => {}));
  expect(shapes.length).toBeGreaterThan(40);
  const all = shapes.map(({ path }) => [...path.split(' ').filter((word) => word !== ''), '--help']);
  const here = await Promise.all(all.map(async (args) => ({ args, ...(await commandHere(args)) })));
  // `run` is a command line of its own; all others are one, which a single process asks for each help.
  const started = here.filter(({ args }) => ['--help', 'run --help', 'check tcp --help'].includes(args.join(' ')));
  expect(started).toHaveLength(3);
  for (const { args, ...ended } of started) expect([args, await command(args, bundle.house)]).toEqual([args, ended]);
  const script = `
import './dist/${importsOf(laterWith('src/cli/run-program.ts'))[0]}';
import { createProgram } from './dist/${globSync('program-*.js', { cwd: bundle.folder }).join()}';
const { all, version } = JSON.parse(process.argv[2]);
const ended = [];
for (const args of all) {
  let [out, err] = ['', ''];
  const context = {
    env: {}, cwd: process.cwd(), version, columns: 80,
    print: (text) => void (out += text), printError: (text) => void (err += text),
  };
  const code = await createProgram(context, () => {}).parseAsync(args, { from: 'user' }).catch(({ exitCode }) => exitCode);
  ended.push({ args, code, out, err });
}
process.stdout.write(JSON.stringify(ended));
`;
  writeFileSync(join(bundle.house, 'helps.mjs'), script);
  const helps = await run(['helps.mjs', JSON.stringify({ all, version: silentContext().version })]);
  expect({ ...helps, out: JSON.parse(helps.out) }).toEqual({ out: here, err: '' });
});

const specs: Readonly<Record<string, (port: number) => string>> = {
  ping: () => 'host: 127.0.0.1',
  http: (port) => `host: "http://127.0.0.1:${port}/"`,
  tcp: (port) => `host: "127.0.0.1:${port}"`,
  dns: (port) => `host: a.example, resolver: "127.0.0.1:${port}", record: A, protocol: tcp`,
  udp: (port) => `host: "127.0.0.1:${port}"`,
  tls: (port) => `host: "127.0.0.1:${port}"`,
  grpc: (port) => `host: "127.0.0.1:${port}"`,
  flow: (port) => `host: "http://127.0.0.1:${port}/", steps: [{}]`,
  websocket: (port) => `host: "ws://127.0.0.1:${port}/"`,
  postgres: (port) => `host: "127.0.0.1:${port}"`,
  mysql: (port) => `host: "127.0.0.1:${port}"`,
  redis: (port) => `host: "127.0.0.1:${port}"`,
  mongodb: (port) => `host: "127.0.0.1:${port}"`,
  mqtt: (port) => `host: "127.0.0.1:${port}"`,
  amqp: (port) => `host: "127.0.0.1:${port}"`,
  ssh: (port) => `host: "127.0.0.1:${port}"`,
  plugin: () => 'host: 127.0.0.1, plugin: any',
  docker: () => 'host: shop-db',
  systemd: () => 'host: nginx.service',
  traceroute: () => 'host: 127.0.0.1, every: 10s',
  mtr: () => 'host: 127.0.0.1, packets: 3, interval: 100ms, every: 10s',
};

test('every type of check runs, pages and their files are there, and a mail is written', async () => {
  // A domain's registry is not of this machine.
  expect(Object.keys(specs).toSorted()).toEqual(probedTypeNames.filter((type) => type !== 'domain').toSorted());
  await using server = await tcpServer((socket) => socket.destroy());
  await using program = await createProgram({ house: bundle.house });
  const targets = Object.entries(specs).map(
    ([type, spec]) => `  ${type}: { check: ${type}, ${spec(server.port)}, timeout: 2s }`,
  );
  const { url } = await program.start(`data: ${program.database}
http: { listen: "127.0.0.1:0" }
plugins: { any: [/bin/true] }
defaults: { every: 5s, rules: [down], notify: [ops] }
notify: { ops: { email: { to: [ops@example.com] }, group_wait: 0s } }
rules: { down: { failing: any, rounds: 1, confirm: false } }
pages: { all: { title: All, targets: { http: Shop } } }
targets:
${targets.join('\n')}
`);
  const outcomes = await eventually(60_000, () => {
    const rows = query(program.database, 'SELECT target, code FROM history');
    expect([...new Set(rows.map(({ target }) => String(target)))].toSorted()).toEqual(Object.keys(specs).toSorted());
    return rows;
  });
  expect(outcomes.filter(({ code }) => code === 'internal')).toEqual([]);
  await eventually(60_000, () => expect(readdirSync(join(program.folder, 'mail'))).not.toEqual([]));
  const page = await (await fetch(url)).text();
  const files = [...page.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, path]) => path);
  expect(files.length).toBeGreaterThan(2);
  for (const file of files) expect([file, (await fetch(`${url}${file}`)).status]).toEqual([file, 200]);
  for (const path of ['/metrics', '/targets/http', '/nodes', '/status/all'])
    expect([path, (await fetch(`${url}${path}`)).status]).toEqual([path, 200]);
});

test.skipIf(why !== null)('a remote node runs from the bundle', async () => {
  await using nats = await startNats({ nodes: ['us1'] });
  await using server = await tcpServer((socket) => socket.end());
  await using program = await createProgram({ house: bundle.house });
  const [enrolled] = [...nats.nodes];
  if (enrolled === undefined) throw new Error('no node is enrolled');
  const [name, { key, seed }] = enrolled;
  mkdirSync(join(program.folder, 'nodes'));
  writeFileSync(join(program.folder, 'hub.nk'), nats.hub.seed.reveal(), { mode: 0o600 });
  writeFileSync(join(program.folder, 'us1.nk'), seed.reveal(), { mode: 0o600 });
  writeFileSync(
    join(program.folder, 'nodes/nodes.json'),
    JSON.stringify({ nodes: { [name]: { key, enrolled_at: '2026-01-01T00:00:00Z' } } }),
  );
  const flags = ['--name', name, '--servers', nats.url, '--seed-file', join(program.folder, 'us1.nk')];
  const more = ['--allow-private', '--spool-file', join(program.folder, 'us1.db')];
  const node = mortal(
    spawn(process.execPath, ['src/watchpost.js', 'node', ...flags, ...more], { cwd: bundle.house, stdio: 'ignore' }),
  );
  try {
    await program.start(`data: ${program.database}
http: { listen: "127.0.0.1:0" }
nats: { servers: ["${nats.url}"] }
nodes: {}
defaults: { every: 1s }
targets: { shop: { check: tcp, host: "127.0.0.1:${server.port}" } }
`);
    await eventually(60_000, () =>
      expect(query(program.database, "SELECT node FROM history WHERE status = 'up'")).toContainEqual({ node: name }),
    );
  } finally {
    node.kill('SIGKILL');
  }
});

test('an error in the bundle names its place in the sources, and prints nothing of the bundle', async () => {
  const { err } = await run(['dist/node-thread.js']);
  const lines = readFileSync(join(root, 'src/node/thread.ts'), 'utf8').split('\n');
  const line = lines.findIndex((text) => text.includes('runs as a worker thread only')) + 1;
  expect(err).toMatch(new RegExp(String.raw`\n    at .*\bsrc/node/thread\.ts:${line}:\d+\)?\n`));
  writeFileSync(join(bundle.house, 'exit.mjs'), "setTimeout(() => { throw new Error('late'); });\n");
  const late = await run(['--import=./exit.mjs', 'src/watchpost.js', 'demo']);
  expect(late.err).toMatch(/^Error: late\n {4}at .*exit\.mjs:1:26/m);
  expect(late.err).not.toMatch(/^import\{/m);
});

test('the hub loads no probe of the bundle and nothing that only mails need', async () => {
  const environment: NodeJS.ProcessEnv = { NODE_OPTIONS: `--import=${root}test/support/loaded-modules.js` };
  await using program = await createProgram({ house: bundle.house, environment });
  const list = join(program.folder, 'modules');
  environment['LOADED_MODULES'] = list;
  await using server = await tcpServer((socket) => socket.end());
  await program.start(`data: ${program.database}
http: { listen: "127.0.0.1:0" }
defaults: { every: 1s, notify: [ops] }
notify: { ops: { email: { to: [ops@example.com] } } }
targets: { shop: { check: tcp, host: "127.0.0.1:${server.port}" } }
`);
  await eventually(60_000, () => expect(query(program.database, 'SELECT * FROM results')).not.toEqual([]));
  const loaded = (thread: string) =>
    readFileSync(`${list}${thread}`, 'utf8')
      .split('\n')
      .flatMap((url) => sourcesOf(url.replace(/^.*\//, '')));
  const probes = loaded('-of-threads').filter((source) => /^src\/checks\/\w+\/probe\.ts$/.test(source));
  const lazy =
    /^src\/checks\/\w+\/probe\.ts$|node_modules\/(?:nodemailer\/.*\/nodemailer\.js$|(?:liquidjs|pino-pretty)\/)/;
  expect(loaded('')).toContain('src/web/server.ts');
  expect(loaded('').filter((source) => lazy.test(source))).toEqual([]);
  expect(probes).toContain('src/checks/tcp/probe.ts');
  expect(
    probes.filter((source) => /\/(?:http|websocket|postgres|mysql|redis|mongodb|mqtt|amqp|ssh|domain)\//.test(source)),
  ).toEqual([]);
});

test('the licence of every package in the bundle is beside it', () => {
  const licences = readFileSync(join(bundle.folder, 'LICENSES.txt'), 'utf8');
  const packages = new Set(
    readdirSync(bundle.folder)
      .filter((file) => /\.c?js$/.test(file))
      .flatMap(sourcesOf)
      .flatMap((source) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(source)?.[1] ?? []),
  );
  expect(packages.size).toBeGreaterThan(50);
  expect([...packages].filter((name) => !licences.includes(`\n${name} `))).toEqual([]);
});
