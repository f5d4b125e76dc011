import { expect, test } from 'vitest';
import { parseJson } from '#kernel/json.ts';

test.each([
  ['{"a":[1]}', { a: [1] }],
  ['null', null],
  ['0', 0],
])('reads %s', (text, value) => expect(parseJson(text)).toEqual(value));

test.each(['', '{', '<html>', 'undefined'])('%j is no JSON', (text) => expect(parseJson(text)).toBeUndefined());
