import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { userAgent, version } from '#kernel/version.ts';

test('the program calls itself by the version of its package', () => {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  expect(text).toContain(`"version": "${version}"`);
  expect(userAgent).toBe(`watchpost/${version}`);
});
