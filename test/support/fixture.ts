import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect } from 'vitest';

const folder = new URL('../fixtures/', import.meta.url).pathname;

/** Compares with a file under `test/fixtures` byte for byte. With UPDATE_FIXTURES set it writes the file instead. */
export function expectFixture(name: string, actual: string | Buffer): void {
  const path = `${folder}${name}`;
  if (process.env['UPDATE_FIXTURES'] !== undefined) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, actual);
  }
  expect(actual.toString('utf8')).toBe(readFileSync(path, 'utf8'));
}
