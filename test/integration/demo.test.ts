import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mortal } from '../support/children.ts';
import { eventually } from '../support/program.ts';
import { testedProgram } from '../support/tested-program.ts';

const root = new URL('../../', import.meta.url).pathname;

test('watchpost demo: an outage and its end, one of what depends on it, mails about the first alone, and nothing stays', async () => {
  await using stack = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'watchpost-test-'));
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  const args = ['--listen', '127.0.0.1:0', '--outage-after', '8s', '--log-level', 'info'];
  const child = mortal(
    spawn(process.execPath, [testedProgram, 'demo', ...args], {
      cwd: root,
      env: { ...process.env, TMPDIR: folder },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
  const exit = once(child, 'exit');
  const printed: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => printed.push(line));
  const log: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => log.push(line));
  const url = await eventually(60_000, () => {
    const found = /"url":"(http:[^"]+)"/.exec(log.join('\n'))?.[1];
    if (found === undefined) throw new Error(log.join('\n'));
    return found;
  });
  expect(printed).toContain('In 8s the database fails for 1m, and later the search is slow for 1m30s.');
  const isUp = async (target: string, value: 0 | 1) =>
    eventually(120_000, async () => {
      const metrics = await (await fetch(`${url}/metrics`)).text();
      expect(metrics).toMatch(new RegExp(`^watchpost_up\\{target="${target}",.*\\} ${value}$`, 'm'));
    });
  for (const target of ['database', 'shop', 'search']) await isUp(target, 1);
  for (const target of ['database', 'shop']) await isUp(target, 0);
  const subjects = () =>
    globSync('watchpost-demo-*/mail/*.eml', { cwd: folder }).map(
      (name) => /^Subject: (.*)$/m.exec(readFileSync(join(folder, name), 'utf8'))?.[1] ?? name,
    );
  await eventually(60_000, () => expect(subjects()).toEqual(['[DOWN] database: connection refused']));
  for (const target of ['database', 'shop', 'search']) await isUp(target, 1);
  await eventually(60_000, () =>
    expect(subjects().toSorted()).toEqual([
      '[DOWN] database: connection refused',
      expect.stringMatching(/^\[RESOLVED\] database: up again after 1m/),
    ]),
  );
  child.kill('SIGINT');
  expect(await exit).toEqual([0, null]);
  expect(readdirSync(folder)).toEqual([]);
}, 240_000);
