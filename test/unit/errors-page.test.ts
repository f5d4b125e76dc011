import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = new URL('../../', import.meta.url).pathname;
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const sources = globSync('src/**/*.{ts,js}', { cwd: root })
  .map(read)
  .join('\n')
  .replaceAll(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, '…');
const messages = [...read('docs/errors.md').matchAll(/^\| `([^`]+)` \|/gm)].map(([, message]) => message ?? '');

test('every message on docs/errors.md is one of the program', () => {
  expect(messages.length).toBeGreaterThan(30);
  const partsOf = (message: string) =>
    message
      .split('…')
      .map((part) => part.trim())
      .filter((part) => part.length > 3);
  expect(messages.filter((message) => partsOf(message).length === 0)).toEqual([]);
  expect(messages.filter((message) => partsOf(message).some((part) => !sources.includes(part)))).toEqual([]);
});

test('no message is there twice', () => {
  expect(new Set(messages).size).toBe(messages.length);
});
