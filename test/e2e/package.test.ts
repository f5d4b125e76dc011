import { execFile, execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hashPassword } from '#kernel/password.ts';
import { createProgram, eventually } from '../support/program.ts';
import { needsProgram } from '../support/programs.ts';
import { tcpServer } from '../support/tcp-servers.ts';

const root = new URL('../../', import.meta.url).pathname;
let place = '';
let installed = '';

// As npm lays it out: Node strips no types here.
beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), 'watchpost-package-'));
  const modules = join(place, 'node_modules');
  installed = join(modules, 'watchpost');
  mkdirSync(installed, { recursive: true });
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (!name.startsWith('.')) symlinkSync(join(root, 'node_modules', name), join(modules, name));
  }
  execFileSync('npm', ['pack', '--silent', '--pack-destination', place], { cwd: root, stdio: 'pipe' });
  execFileSync('tar', ['-xzf', join(place, `watchpost-${version()}.tgz`), '--strip-components=1', '-C', installed]);
});
afterAll(() => rmSync(place, { recursive: true, force: true }));

function version(): string {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  return version;
}

function watchpost(...args: readonly string[]) {
  const command = join(installed, 'src/watchpost.js');
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, ...args], { cwd: place, encoding: 'utf8' });
  return { status, stdout, stderr };
}

test('the package is plain JavaScript that names none of the sources', () => {
  const sources = globSync('**/*.ts', { cwd: installed }).filter(
    (file) => !/^dist\/api-client\/\w+\.d\.ts$/.test(file),
  );
  expect(sources).toEqual([]);
  const naming = globSync('dist/**/*.js', { cwd: installed }).filter((file) =>
    /(?:from|import\(?|new URL\()\s*'(?:#[^'\n]*|\.[^'\n]*\.ts)'/.test(readFileSync(join(installed, file), 'utf8')),
  );
  expect(naming).toEqual([]);
});

test('the package has every file under config that the documentation tells people to copy', () => {
  const pages = [join(installed, 'README.md'), ...globSync(join(installed, 'docs/**/*.md'))];
  const named = pages.flatMap(
    (page) => readFileSync(page, 'utf8').match(/\bconfig\/[\w./-]+\.(?:yaml|service|conf|json)/g) ?? [],
  );
  expect(named).toContain('config/watchpost.service');
  expect([...new Set(named)].filter((file) => !existsSync(join(installed, file)))).toEqual([]);
  expect(readFileSync(join(installed, 'docs/install.md'), 'utf8')).toContain(`./watchpost-${version()}.tgz`);
});

test('the installed package gives the command: version, schema, a round by a node in its thread', async () => {
  await using server = await tcpServer((socket) => socket.end());
  expect(watchpost('--version')).toEqual({ status: 0, stdout: `${version()}\n`, stderr: '' });
  const config = join(place, 'watchpost.yaml');
  writeFileSync(config, `targets: { port: { check: tcp, host: "127.0.0.1:${server.port}" } }\n`);
  const { status, stdout, stderr } = watchpost('run', '--once', '--log-level', 'error', '--config', config);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toMatch(/^port +up +zz1 +up/m);
});

test('the installed package serves its documentation, with pictures, to those who may read pages', async () => {
  await using program = await createProgram({ house: installed });
  const { url, end } = await program.start(
    'data: watchpost.db\nhttp: { listen: 127.0.0.1:0 }\ntargets: { a: { check: ping, host: 127.0.0.1 } }\n',
  );
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${url}${path}`, { headers: { accept: 'text/html', ...headers }, redirect: 'manual' });
    return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
  };
  expect((await get('/')).text).toContain('<a href="/docs">Documentation</a>');
  expect((await get('/docs')).text).toContain('<a href="/docs/alerting">Alerts</a>');
  const checks = await get('/docs/checks');
  expect(checks.text).toMatch(/<title>Checks · Watchpost<\/title>[\s\S]*<tr id="failure-codes-refused">/);
  expect((await get('/docs/pages')).text).toContain('src="/docs/images/target.png"');
  expect(await get('/docs/images/target.png')).toMatchObject({ status: 200, type: 'image/png' });
  expect((await get('/docs/decisions/0005-no-build-step')).status).toBe(200);
  for (const path of ['/docs/none', '/docs/..%2fpackage.json', '/docs/images/%2e%2e/checks.md.map'])
    expect(await get(path)).toMatchObject({ status: 404 });
  await end('SIGTERM');

  await using guarded = await createProgram({ house: installed });
  const hash = await hashPassword('correct horse');
  const running = await guarded.start(
    `data: watchpost.db\nhttp: { listen: 127.0.0.1:0, users: { ann: { password_hash: "${hash}" } } }\ntargets: { a: { check: ping, host: 127.0.0.1 } }\n`,
  );
  for (const path of ['/docs', '/docs/checks', '/docs/images/target.png']) {
    const { status, headers } = await fetch(`${running.url}${path}`, {
      headers: { accept: 'text/html' },
      redirect: 'manual',
    });
    expect([status, headers.get('location')]).toEqual([303, `/login?next=${encodeURIComponent(path)}`]);
  }
  await running.end('SIGTERM');
});

/** The block of docs/api.md in this language. */
function exampleIn(language: string): string {
  const page = readFileSync(join(root, 'docs/api.md'), 'utf8');
  const blocks = [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)].filter(([, written]) => written === language);
  expect(blocks).toHaveLength(1);
  return blocks[0]?.[2] ?? '';
}

test.for([
  { language: 'ts', file: 'example.mts', program: process.execPath, args: ['--no-warnings'] },
  { language: 'python', file: 'example.py', program: 'python3', args: [] },
  { language: 'bash', file: 'example.sh', program: 'bash', args: [] },
])(
  'the example of docs/api.md in $language runs against the service',
  async ({ language, file, program, args }, context) => {
    const needed = { python: ['python3'], bash: ['bash', 'curl', 'jq'] }[language] ?? [];
    for (const name of needed) needsProgram(context, name, name);
    await using daemon = await createProgram();
    const config = 'data: watchpost.db\nhttp: { listen: 127.0.0.1:0 }\nservice: {}\nnodes: { de1: {}, us1: {} }\n';
    const { url } = await daemon.start(config);
    await eventually(60_000, async () =>
      expect(Object.keys(((await (await fetch(`${url}/nodes/hosts`)).json()) as { nodes: object }).nodes)).toHaveLength(
        2,
      ),
    );
    const written = exampleIn(language).replaceAll('http://127.0.0.1:8080', url);
    const run = async (text: string) => {
      writeFileSync(join(place, file), text);
      return new Promise<{ readonly stdout: string; readonly stderr: string }>((resolve) => {
        execFile(program, [...args, file], { cwd: place, encoding: 'utf8', timeout: 60_000 }, (_, stdout, stderr) =>
          resolve({ stdout, stderr }),
        );
      });
    };
    const good = await run(written.replaceAll('127.0.0.1:8080', new URL(url).host));
    expect(good.stderr).toBe('');
    const [report, ...rows] = good.stdout.trimEnd().split('\n');
    expect(report).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/check-report\/\w{20}$/);
    expect(rows.toSorted()).toEqual([expect.stringMatching(/^de1 up 0\.\d+/), expect.stringMatching(/^us1 up 0\.\d+/)]);
    const refused = await run(written.replace('127.0.0.1:8080/healthz', '224.0.0.1'));
    expect(refused.stderr).toMatch(/forbidden_target:? 224\.0\.0\.1 may not be checked/);
  },
);

test('the declarations of the exported client are whole', () => {
  writeFileSync(join(place, 'typed.mts'), exampleIn('ts'));
  const options = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2024', '--types', 'node'];
  const tsc = (file: string) =>
    spawnSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), ...options, file], {
      cwd: place,
      encoding: 'utf8',
    });
  expect(tsc('typed.mts')).toMatchObject({ status: 0, stdout: '' });
  writeFileSync(join(place, 'mistyped.mts'), exampleIn('ts').replace('max_nodes: 3', 'max_node: 3'));
  expect(tsc('mistyped.mts').stdout).toContain("'max_node' does not exist in type 'CheckRequest'");
});
