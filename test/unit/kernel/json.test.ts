import { expect, test } from 'vitest';
import { z } from 'zod';
import { parseJson, readJson } from '#kernel/json.ts';

test.each([
  ['{"a":[1]}', { a: [1] }],
  ['null', null],
  ['0', 0],
])('reads %s', (text, value) => expect(parseJson(text)).toEqual(value));

test.each(['', '{', '<html>', 'undefined'])('%j is no JSON', (text) => expect(parseJson(text)).toBeUndefined());

test('what is not of the shape is null, and so is what is no JSON', () => {
  const shape = z.object({ a: z.number() });
  expect(readJson(shape, '{"a":1}')).toEqual({ a: 1 });
  expect(readJson(shape, '{"a":"1"}')).toBeNull();
  expect(readJson(shape, '{"a":')).toBeNull();
});
