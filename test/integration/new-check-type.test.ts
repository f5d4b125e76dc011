import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { tcpServer } from '../support/tcp-servers.ts';

// A copy of the house with one check type more, made by the steps of docs/development.md and nothing else.
const root = new URL('../../', import.meta.url).pathname;
let folder = '';
const inCopy = (...path: readonly string[]) => join(folder, ...path);

async function edit(path: string, change: (text: string) => string): Promise<void> {
  const text = await readFile(inCopy(path), 'utf8');
  const changed = change(text);
  if (changed === text) throw new Error(`${path} is not as it was`);
  await writeFile(inCopy(path), changed);
}

const run = async (...command: readonly string[]) =>
  promisify(execFile)(process.execPath, command, { cwd: folder, maxBuffer: 2 ** 24 });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'watchpost-house-'));
  const parts = ['src', 'test', 'docs', 'config', 'migrations', '.ci', 'package.json', 'tsconfig.json', 'CHANGELOG.md'];
  for (const part of parts) {
    await cp(join(root, part), inCopy(part), { recursive: true });
  }
  await symlink(join(root, 'node_modules'), inCopy('node_modules'));
  await mkdir(inCopy('src/checks/banner'));
  await cp(join(root, 'test/fixtures/check-type/banner'), inCopy('src/checks/banner'), { recursive: true });
  await edit('src/checks/index.ts', (text) =>
    text
      .replace('export const checks = [', 'export const checks = [banner, ')
      .replace("import { dns } from './dns/index.ts';", "import { banner } from './banner/index.ts';\n$&"),
  );
  await edit('src/checks/node-types.ts', (text) =>
    text.replace(
      '\n  ping: {',
      "\n  banner: { load: async () => import('./banner/probe.ts'), isAbleEverywhere: true },$&",
    ),
  );
  await edit('docs/checks.md', (text) =>
    text
      .replace('\n| `ping` |', '\n| `banner` | what does it say unasked? | `resolve` | | its timeout |$&')
      .replace('\n## ping', '\n## banner\n\n<!-- options of banner -->\n\n\n\n<!-- end of options -->\n$&'),
  );
  await run('test/support/write-check-options.ts');
  const { stdout } = await run('src/watchpost.js', 'config', 'schema');
  await writeFile(inCopy('config/watchpost.schema.json'), stdout);
});

afterAll(async () => rm(folder, { recursive: true, force: true }));

test('a check type is a folder, a line in each of two lists, and its documentation', async () => {
  // Threads of a compiler do much of their work twice, and other tests need the processors.
  await run('node_modules/typescript/bin/tsc', '--singleThreaded');
  const suites = ['test/unit/checks', 'test/unit/config', 'test/unit/protocol', 'test/unit/architecture.test.ts'];
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/vitest.config.ts', '--project', 'unit'];
  const { stdout } = await run(...vitest, ...suites);
  expect(stdout).toMatch(/unit: \d+ passed, 0 failed/);
});

test('the command line and the configuration know it', async () => {
  await using server = await tcpServer((socket) => socket.end('hello from here\r\n'));
  const checked = await run('src/watchpost.js', 'check', 'banner', server.host);
  expect(checked.stdout).toContain('banner       hello from here');
  await writeFile(inCopy('new.yaml'), `targets: { greeting: { check: banner, host: '${server.host}', every: 1m } }\n`);
  expect((await run('src/watchpost.js', 'config', 'check', '--config', 'new.yaml')).stdout).toContain('1 target');
});

test('a check service of others cannot be asked for it', async () => {
  const asked = run('src/watchpost.js', 'check', 'banner', 'a.example', '--service', 'http://127.0.0.1:9');
  await expect(asked).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining('does not know banner checks'),
  });
  const service = "service: { url: 'http://127.0.0.1:9' }";
  await writeFile(inCopy('there.yaml'), `${service}\ntargets: { greeting: { check: banner, host: a.example } }\n`);
  const judged = run('src/watchpost.js', 'config', 'check', '--config', 'there.yaml');
  await expect(judged).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining('there.yaml:2:31: targets.greeting.check: is more than the check service'),
  });
});
