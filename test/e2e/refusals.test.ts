import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { tcpServer } from '../support/tcp-servers.ts';
import { testedProgram } from '../support/tested-program.ts';

const root = new URL('../../', import.meta.url).pathname;
let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'watchpost-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function run(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [testedProgram, ...args], {
    cwd: root,
    encoding: 'utf8',
    timeout: 20_000,
  });
  return { status, stdout, stderr };
}

function written(text: string): string {
  const path = join(folder, 'watchpost.yaml');
  writeFileSync(path, text);
  return path;
}

const good = 'http: { listen: 127.0.0.1:0 }\ntargets: { shop: { check: tcp, host: "127.0.0.1:9" } }\n';

test('a broken configuration is refused with every mistake at its place and exit code 2', () => {
  const path = written(
    'http: { listen: 127.0.0.1:0 }\ntargets:\n  shop: { check: tcp, host: "127.0.0.1:9", evry: 30s }\n  web: { check: tpc, host: x }\n',
  );
  for (const command of [['run'], ['config', 'check']]) {
    const { status, stdout, stderr } = run(...command, '--config', path);
    expect(status).toBe(2);
    expect(stdout).toBe('');
    const lines = stderr.trim().split('\n');
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(/watchpost\.yaml:3:\d+: targets\.shop.*evry.*did you mean "every"/);
    expect(lines[1]).toMatch(/watchpost\.yaml:4:\d+: targets\.web\.check: .*did you mean "tcp"/);
  }
});

test('a missing configuration is one clear line and exit code 2', () => {
  const { status, stderr } = run('run', '--config', join(folder, 'nothing.yaml'));
  expect(status).toBe(2);
  expect(stderr.trim().split('\n')).toHaveLength(1);
  expect(stderr).toContain('nothing.yaml');
});

test.each([
  { name: 'is corrupt', bytes: 'this is not a database, however long it may be', says: /not a.*database|corrupt/i },
])('a database that $name ends the program with a clear line', ({ bytes, says }) => {
  writeFileSync(join(folder, 'watchpost.db'), bytes.repeat(100));
  const { status, stderr } = run('run', '--config', written(`data: watchpost.db\n${good}`));
  expect(status).toBe(1);
  expect(stderr).toMatch(says);
  expect(stderr).not.toMatch(/\n\s+at /);
});

test('a folder that is not there ends the program with a clear line', () => {
  const { status, stderr } = run('run', '--config', written(`data: no/such/folder/watchpost.db\n${good}`));
  expect(status).toBe(1);
  expect(stderr).toContain('no/such/folder');
});

test('a port that is taken ends the program with a clear line and leaves nothing behind', async () => {
  await using server = await tcpServer(() => {});
  const path = written(good.replace('127.0.0.1:0', server.host));
  const { status, stderr } = run('run', '--config', path);
  expect(status).toBe(1);
  expect(stderr).toContain(`cannot listen on ${server.host}`);
});

test('an unknown command is refused with a hint and exit code 2', () => {
  const { status, stderr } = run('rnu');
  expect(status).toBe(2);
  expect(stderr).toContain('Did you mean run?');
});
