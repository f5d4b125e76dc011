import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startSink } from '../support/http-sink.ts';
import { needsProgram } from '../support/programs.ts';

const root = new URL('../../', import.meta.url).pathname;
let folder = '';
let recipes = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'watchpost-recipes-'));
  recipes = await readFile(join(root, 'docs/heartbeats.md'), 'utf8');
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

/** The line of the page that has these words, for this job and this address. */
function recipe(words: string, url: string, job: string): string {
  const line = recipes.split('\n').find((one) => one.includes(words) && one.includes('/beat/<secret>')) ?? '';
  expect(line).not.toBe('');
  return line
    .replaceAll('https://status.example.com/beat/<secret>', url)
    .replaceAll('/usr/local/bin/backup', job)
    .replaceAll('/tmp/backup.log', join(folder, 'backup.log'));
}

async function shell(script: string, env: Readonly<Record<string, string>> = {}) {
  const child = spawn('sh', ['-c', script], { stdio: 'ignore', env: { ...process.env, ...env } });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code;
}

async function jobThat(script: string): Promise<string> {
  const path = join(folder, 'backup');
  await writeFile(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return path;
}

test('the cron line calls where the job ended well, through a restart of Watchpost, and not where it failed', async (context) => {
  needsProgram(context, 'curl', 'curl');
  let answers = 0;
  await using hub = await startSink(() => ({ status: (answers += 1) < 2 ? 503 : 200 }));
  const line = (job: string) => recipe('0 3 * * *', `${hub.origin}/beat/abc`, job).replace(/^0 3 \* \* \* /, '');
  expect(await shell(line(await jobThat('exit 0')))).toBe(0);
  expect(hub.received.map(({ path }) => path)).toEqual(['/beat/abc', '/beat/abc']);
  expect(await shell(line(await jobThat('exit 3')))).toBe(3);
  expect(hub.received).toHaveLength(2);
}, 60_000);

test('the line with the exit code tells it, with the last lines', async (context) => {
  needsProgram(context, 'curl', 'curl');
  await using hub = await startSink();
  const job = await jobThat('echo copying; echo "disk full" >&2; exit 28');
  await shell(recipe('--data-binary', `${hub.origin}/beat/abc`, job));
  expect(hub.received).toMatchObject([{ path: '/beat/abc/28', method: 'POST', body: 'copying\ndisk full\n' }]);
}, 60_000);

test('what systemd runs before and after tells the beginning and the end', async (context) => {
  needsProgram(context, 'curl', 'curl');
  await using hub = await startSink();
  const command = (words: string) => recipe(words, `${hub.origin}/beat/abc`, 'true').replace(/^\w+=-?/, '');
  expect(await shell(command('ExecStartPre'))).toBe(0);
  // systemd takes the quotes away and hands on the variables as they stand.
  const after = /sh -c '(.*)'$/.exec(command('ExecStopPost'))?.[1] ?? 'false';
  expect(await shell(after, { SERVICE_RESULT: 'success' })).toBe(0);
  expect(await shell(after, { SERVICE_RESULT: 'exit-code' })).toBe(0);
  expect(hub.received.map(({ path }) => path)).toEqual(['/beat/abc/start', '/beat/abc/0', '/beat/abc/fail']);
}, 60_000);

test('the unit is one that systemd takes', async (context) => {
  needsProgram(context, 'systemd-analyze', 'systemd');
  const unit = /\[Service\]\n[\s\S]*?(?=```)/.exec(recipes)?.[0] ?? '';
  const path = join(folder, 'backup.service');
  await writeFile(path, unit.replaceAll('/usr/local/bin/backup', '/bin/true'));
  const { stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', path], { encoding: 'utf8' });
  expect(stderr.split('\n').filter((line) => line.includes('backup.service'))).toEqual([]);
});
