import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { unwrittenSpans } from '#kernel/program-pages.ts';

const child = new URL('../../support/program-pages-child.ts', import.meta.url).pathname;
const program = '/opt/node 24/bin/node';

function mapping(range: string, rights: string, offset: string, file: string, anonymous = 0): string {
  return `${range} ${rights} ${offset} fe:00 5424325 ${file}\nRss:  64 kB\nAnonymous:             ${anonymous} kB\nVmFlags: rd mr mw me\n`;
}

const image = [
  mapping('00400000-00746000', 'r--p', '00000000', program),
  mapping('00746000-03044000', 'r-xp', '00346000', program),
  mapping('03044000-06b51000', 'r--p', '02c44000', program),
  // The dynamic linker has written here, and protected it then.
  mapping('06b52000-06b56000', 'r--p', '06751000', program, 8),
];

test('what was never written of the image is given back', () => {
  const spans = unwrittenSpans(
    [...image, mapping('06b56000-06b7d000', 'rw-p', '06755000', program, 144)].join(''),
    program,
  );
  expect(spans).toEqual([
    { start: 0x40_0000, end: 0x74_6000 },
    { start: 0x74_6000, end: 0x304_4000 },
    { start: 0x304_4000, end: 0x6b5_1000 },
  ]);
});

test('mappings of other files and of threads stay', () => {
  const smaps = [
    mapping('00100000-00200000', 'r-xp', '00001000', program),
    mapping('00200000-00300000', 'r--p', '00000000', '/usr/lib/libm.so.6'),
    ...image,
    mapping('06b56000-06b7d000', 'rw-p', '06755000', program, 144),
    mapping('7fd634980000-7fd634b85000', 'r-xp', '01627000', program),
    mapping('7fd634c00000-7fd634d00000', 'r--p', '00000000', '/usr/lib/libc.so.6'),
  ].join('');
  expect(unwrittenSpans(smaps, program)).toHaveLength(3);
});

test('a program that is not in the map has nothing', () => {
  expect(unwrittenSpans(image.join(''), '/usr/bin/node')).toEqual([]);
  expect(unwrittenSpans('', program)).toEqual([]);
});

test.skipIf(process.platform !== 'linux')('pages that only the start has read leave the process', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', child]);
  const { before, after } = JSON.parse(stdout) as Record<'before' | 'after', number>;
  expect(before - after).toBeGreaterThan(10_000_000);
});
