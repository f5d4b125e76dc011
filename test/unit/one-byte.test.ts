import { SourceMap } from 'node:module';
import { expect, test } from 'vitest';
import { inOneByte } from '../../.ci/one-byte.ts';

const code = 'const a="→",b=\'é🔴\',c=/[“”]/u;\nconst d=`–\n${a}`,e=1;';
// For each of `a`, `b`, `c`, `d` and `e`: where it is, and its place in the source, here a line for each.
const mappings = 'MAAA,MACA,QACA;MACA;MACA';

test('every character has one byte, and the code means the same', () => {
  const narrowed = inOneByte({ code, mappings });
  expect(narrowed.code).toMatch(/^[\0-\u007F]*$/);
  const valuesOf = (text: string): unknown => new Function(`${text}; return [a, b, c.test('”'), c.test('x'), d, e];`)(); // oxlint-disable-line no-new-func, no-implied-eval -- to see what it means
  expect(valuesOf(narrowed.code)).toEqual(['→', 'é🔴', true, false, '–\n→', 1]);
  expect(valuesOf(narrowed.code)).toEqual(valuesOf(code));
});

test('the source map leads from the new places to the same places of the source', () => {
  const narrowed = inOneByte({ code, mappings });
  const placesBy = (written: string, numbers: string): readonly unknown[] => {
    const map = new SourceMap({
      version: 3,
      file: '',
      sources: ['x.ts'],
      sourcesContent: [],
      names: [],
      mappings: numbers,
      sourceRoot: '',
    });
    const lines = written.split('\n');
    return [/a=/, /b=/, /c=/, /d=/, /e=/].map((name) => {
      const line = lines.findIndex((text) => name.test(text));
      const entry = map.findEntry(line, lines[line]?.search(name) ?? -1);
      return 'originalLine' in entry ? [entry.generatedColumn === lines[line]?.search(name), entry.originalLine] : null;
    });
  };
  const places = placesBy(narrowed.code, narrowed.mappings);
  expect(placesBy(code, mappings)).toEqual(places);
  expect(places).toEqual([0, 1, 2, 3, 4].map((line) => [true, line]));
});

test('code of ASCII stays as it is', () => {
  expect(inOneByte({ code: 'a="e"', mappings: 'AAAA' })).toEqual({ code: 'a="e"', mappings: 'AAAA' });
});

test('a template that is read as it is written is refused', () => {
  expect(() => inOneByte({ code: 'String.raw`→`', mappings: '' })).toThrow('write escapes in raw`→`');
});
