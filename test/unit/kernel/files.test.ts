import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { unlessMissing } from '#kernel/files.ts';

test('what is not there is null, what is there is what was done with it', async () => {
  expect(await unlessMissing(readFile('/no/such/file', 'utf8'))).toBeNull();
  expect(await unlessMissing(readFile(new URL(import.meta.url), 'utf8'))).toContain('what is there');
});

test('other trouble is no absence', async () => {
  await expect(unlessMissing(readFile('/'))).rejects.toThrow('EISDIR');
  await expect(unlessMissing(Promise.reject(new Error('ENOENT')))).rejects.toThrow('ENOENT');
});
