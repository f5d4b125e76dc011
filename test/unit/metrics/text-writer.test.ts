import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { TextWriter } from '#metrics/text-writer.ts';

const written = (write: (writer: TextWriter) => void) => {
  const writer = new TextWriter();
  write(writer);
  return Buffer.from(writer.take()).toString();
};

test('texts become UTF-8, whatever they contain and however long they are', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 300 })), (texts) => {
      const writer = new TextWriter();
      for (const text of texts) writer.text(text);
      expect(Buffer.from(writer.take())).toEqual(Buffer.from(texts.map((text) => text.toWellFormed()).join('')));
    }),
  );
  const long = 'ä'.repeat(200_000);
  expect(written((writer) => writer.text(long))).toBe(long);
});

test('numbers are as JavaScript writes them', () => {
  const edges = [0, -0, 9, 10, 99, 100, 1e15 - 1, 1e15, 1e21, -1, 0.1, 5e-324, Number.NaN, Infinity, 2 ** 53];
  const Value = fc.oneof(fc.constantFrom(...edges), fc.double(), fc.maxSafeNat());
  fc.assert(
    fc.property(Value, (value) => {
      expect(written((writer) => writer.number(value))).toBe(String(value));
    }),
  );
});

test('what was written before is written again, also where it is taken from what has moved', () => {
  const text = 'x'.repeat(60_000);
  const writer = new TextWriter();
  writer.text(`<${text}>`);
  const end = writer.length;
  writer.again(0, end);
  writer.cut(end + 3);
  expect(Buffer.from(writer.take()).toString()).toBe(`<${text}><xx`);
});

test('the text of something is the same the second time, after a cut, and after it was taken', () => {
  const [one, other] = [{}, {}];
  const writer = new TextWriter();
  writer.textOf(one, 'one ');
  writer.textOf(one, 'one ');
  writer.textOf(other, 'other ');
  const end = writer.length;
  writer.textOf(one, 'one ');
  writer.cut(end);
  writer.textOf(one, 'one ');
  expect(Buffer.from(writer.take()).toString()).toBe('one one other one ');
  writer.textOf(one, 'one');
  expect(Buffer.from(writer.take()).toString()).toBe('one');
});
