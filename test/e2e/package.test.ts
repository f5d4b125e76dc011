import { execFileSync, spawnSync } from 'node:child_process';
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
  expect(globSync('**/*.ts', { cwd: installed })).toEqual([]);
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
