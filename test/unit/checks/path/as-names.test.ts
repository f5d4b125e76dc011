import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { loadAsNames } from '#checks/path/as-names.ts';

const folder = mkdtempSync(join(tmpdir(), 'watchpost-asn-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(content: string | Buffer, name = 'names.tsv'): string {
  const path = join(mkdtempSync(join(folder, 'list-')), name);
  writeFileSync(path, content);
  return path;
}

const list = [
  '1.0.0.0\t1.0.0.255\t13335\tUS\tCLOUDFLARENET',
  '1.0.1.0\t1.0.3.255\t0\tNone\tNot routed',
  '1.0.4.0\t1.0.7.255\t38803\tAU\tGTELECOM',
  '2001:db8::\t2001:db8:ffff:ffff:ffff:ffff:ffff:ffff\t64500\tDE\tExample',
  '',
].join('\n');

test.each([
  ['plain', () => file(list)],
  ['compressed', () => file(gzipSync(list), 'names.tsv.gz')],
  ['with CR', () => file(list.replaceAll('\n', '\r\n'))],
])('addresses of both families have their network: %s', async (_, make) => {
  const names = await loadAsNames(make());
  const cloudflare = { number: 13_335, name: 'CLOUDFLARENET' };
  expect(names.find('1.0.0.0')).toEqual(cloudflare);
  expect(names.find('1.0.0.255')).toEqual(cloudflare);
  expect(names.find('1.0.4.1')).toEqual({ number: 38_803, name: 'GTELECOM' });
  expect(names.find('2001:db8::1')).toEqual({ number: 64_500, name: 'Example' });
  for (const none of [
    '0.255.255.255',
    '1.0.1.0',
    '1.0.2.7',
    '1.0.8.0',
    '255.255.255.255',
    '2001:db7::1',
    '2001:db9::',
  ]) {
    expect(names.find(none)).toBeNull();
  }
});

test('a file with many networks', async () => {
  const lines = Array.from({ length: 5_000 }, (_, index) => {
    const at = `${10 + (index >> 8)}.${index & 255}`;
    return `${at}.0.0\t${at}.255.255\t${index + 1}\tXX\tNetwork ${index % 10}`;
  });
  const names = await loadAsNames(file(lines.join('\n')));
  expect(names.find('10.0.0.1')).toEqual({ number: 1, name: 'Network 0' });
  expect(names.find('29.135.255.255')).toEqual({ number: 5_000, name: 'Network 9' });
  expect(names.find('29.136.0.0')).toBeNull();
});

test.each([
  ['1.0.0.0\t1.0.0.255\t13335\tUS', 'expected first address, last address'],
  ['1.0.0.0\t2001:db8::\t13335\tUS\tA', 'expected first address, last address'],
  ['1.0.0.0\t1.0.0.255\tAS5\tUS\tA', 'expected first address, last address'],
  ['1.0.0.9\t1.0.0.0\t5\tUS\tA', 'the first address is after the last one'],
  ['0.0.0.0\t0.0.0.9\t5\tUS\tA', 'not in ascending order'],
])('the line %j is refused with its number', async (line, why) => {
  const path = file(`0.0.0.5\t0.0.1.0\t1\tXX\tFirst\n${line}\n`);
  await expect(loadAsNames(path)).rejects.toThrow(`cannot read asn_file ${path}:2: `);
  await expect(loadAsNames(path)).rejects.toThrow(why);
});

test('a file that is missing or broken is reported, and read when it is mended', async () => {
  await expect(loadAsNames('/nonexistent/names.tsv')).rejects.toThrow(/cannot read asn_file .*ENOENT/);
  const path = file('no gzip', 'names.tsv.gz');
  await expect(loadAsNames(path)).rejects.toThrow(`cannot read asn_file ${path}`);
  writeFileSync(path, gzipSync(list));
  expect((await loadAsNames(path)).find('1.0.0.1')?.number).toBe(13_335);
});
