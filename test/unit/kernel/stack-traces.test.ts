import { SourceMap } from 'node:module';
import { expect, test } from 'vitest';
import { inSources } from '#kernel/stack-traces.ts';

// The first characters of lines 3 and 7 of the source are columns 1 and 11 of one line of the bundle (ECMA-426, 9.2).
const map = new SourceMap({
  version: 3,
  file: 'chunk.js',
  sources: ['../src/kernel/text.ts'],
  sourcesContent: [],
  names: [],
  mappings: 'AAEA,UAIA',
  sourceRoot: '',
});

function frame(file: string | null, line: number, column: number): NodeJS.CallSite {
  const place = { getFileName: () => file, getLineNumber: () => line, getColumnNumber: () => column };
  // A frame of V8 has more, which is not asked for.
  return { ...place, toString: () => `cut (${file}:${line}:${column})` } as unknown as NodeJS.CallSite; // oxlint-disable-line typescript/no-unsafe-type-assertion
}

test('a frame in a file with a map names the place in the sources', () => {
  const mapOf = (file: string) => (file === 'file:///opt/dist/a $1 b/chunk.js' ? map : null);
  const bundled = (column: number) => inSources(frame('file:///opt/dist/a $1 b/chunk.js', 1, column), mapOf);
  expect(bundled(1)).toBe('cut (src/kernel/text.ts:3:1)');
  expect(bundled(11)).toBe('cut (src/kernel/text.ts:7:1)');
});

test.for([
  ['without a map', 'file:///opt/dist/other.js'],
  ['of Node', 'node:internal/process/task_queues'],
  ['in no file', null],
] as const)('a frame %s stays as it is', ([, file]) => {
  expect(inSources(frame(file, 1, 1), () => null)).toBe(`cut (${file}:1:1)`);
});
