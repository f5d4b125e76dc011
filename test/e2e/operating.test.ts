import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createProgram, eventually, type Program } from '../support/program.ts';
import { closedPort } from '../support/tcp-servers.ts';

const root = new URL('../../', import.meta.url).pathname;
const page = readFileSync(join(root, 'docs/operating.md'), 'utf8');
const commands = [...page.matchAll(/^```sh\n([^`]*)```$/gm)].flatMap(([, block = '']) => block.trim().split('\n'));

// What ends with another code than 0, and why.
const others: Readonly<Record<string, number>> = {
  // It watches itself, and is not there yet.
  'watchpost run --once --json': 1,
};

let folder = '';
let port = 0;
let program: Program;
beforeAll(async () => {
  program = await createProgram();
  ({ folder } = program);
  port = await closedPort();
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  // A script is not read again once it runs, whatever else the folder holds.
  writeFileSync(join(bin, 'watchpost'), `#!/bin/sh\nexec '${process.execPath}' '${root}src/watchpost.js' "$@"\n`);
  chmodSync(join(bin, 'watchpost'), 0o755);
});
afterAll(async () => program[Symbol.asyncDispose]());

interface Ended {
  readonly code: number;
  readonly text: string;
}

async function shell(line: string): Promise<Ended> {
  const env = { ...process.env, PATH: `${join(folder, 'bin')}${delimiter}${process.env['PATH'] ?? ''}` };
  return new Promise((resolve) => {
    execFile('sh', ['-c', line], { cwd: folder, env }, (error, out, err) => {
      const code = error === null ? 0 : Number(error.code ?? -1);
      resolve({ code, text: `${line}\n${out}${err}` });
    });
  });
}

test('every command of docs/operating.md does what the page says, one after the other', async () => {
  expect(commands.length).toBeGreaterThan(25);
  const failed: Ended[] = [];
  for (const line of commands) {
    if (line === 'watchpost run') {
      const config = readFileSync(join(folder, 'watchpost.yaml'), 'utf8');
      const { logged } = await program.start(config);
      await logged(/^watching/);
      await eventually(60_000, async () => {
        expect((await shell('watchpost status')).text).toMatch(/^itself +up /m);
      });
      continue;
    }
    const ended = await shell(line);
    if (ended.code !== (others[line] ?? 0)) failed.push(ended);
    if (line === 'watchpost init') {
      // The port of the example may be taken on this machine.
      const path = join(folder, 'watchpost.yaml');
      const text = readFileSync(path, 'utf8').replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`);
      expect(text).toContain('every: 30s');
      writeFileSync(path, text.replace('every: 30s', 'every: 1s'));
    }
  }
  expect(failed).toEqual([]);
});

test('the page names every page for more, and every bad day that an operator has', () => {
  for (const day of ['disk', 'Mails', 'clock', 'NATS', 'Moving', 'configuration', 'database'])
    expect(page).toMatch(new RegExp(`^### .*${day}`, 'm'));
});
