import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { receive } from '#kernel/receive.ts';

const pieces = (...texts: readonly string[]) => Readable.from(texts.map((text) => Buffer.from(text)));

test.each([
  ['what is shorter', ['ab', 'c'], 5, 'abc', false],
  ['what has just this length', ['ab', 'cde'], 5, 'abcde', false],
  ['the beginning of what is longer', ['ab', 'cdef', 'never'], 5, 'abcde', true],
  ['nothing', [], 5, '', false],
])('takes %s', async (_, texts, most, text, isMore) => {
  const stream = pieces(...texts);
  const { bytes, ...rest } = await receive(stream, most);
  expect({ text: bytes.toString(), ...rest }).toEqual({ text, isMore, broken: null });
  expect(stream.destroyed).toBe(true);
});

test('tells what came before a stream broke off, and what broke it', async () => {
  const reset = new Error('reset');
  const stream = Readable.from(
    (function* () {
      yield Buffer.from('half');
      throw reset;
    })(),
  );
  const { bytes, ...rest } = await receive(stream, 100);
  expect({ text: bytes.toString(), ...rest }).toEqual({ text: 'half', isMore: false, broken: { by: reset } });
  expect(stream.destroyed).toBe(true);
});

test('a stream that is open on its other side is closed too', async () => {
  const stream = new Readable({ autoDestroy: false, read() {} });
  stream.push('all');
  stream.push(null);
  await receive(stream, 100);
  expect(stream.destroyed).toBe(true);
});
