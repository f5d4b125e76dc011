import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeMessage } from '#checks/systemd/decode-message.ts';
import { encodeCall } from '#checks/systemd/encode-call.ts';
import { WireError } from '#checks/systemd/value-reader.ts';

const most = 1_048_576;

function word(value: number, isLittle: boolean): Buffer {
  const bytes = Buffer.alloc(4);
  if (isLittle) bytes.writeUInt32LE(value);
  else bytes.writeUInt32BE(value);
  return bytes;
}

/** An answer to call 7, of a body with the signature. */
function answer(signature: string, body: Buffer, { isLittle = true, kind = 2 } = {}): Buffer {
  const reply = Buffer.concat([Buffer.from([5, 1, 0x75, 0]), word(7, isLittle)]);
  const type = Buffer.concat([Buffer.from([8, 1, 0x67, 0, signature.length]), Buffer.from(signature), Buffer.alloc(1)]);
  const fields = Buffer.concat([reply, type]);
  const order = isLittle ? 'l' : 'B';
  const head = Buffer.concat([
    Buffer.from([order.charCodeAt(0), kind, 0, 1]),
    ...[body.length, 1, fields.length].map((value) => word(value, isLittle)),
    fields,
  ]);
  return Buffer.concat([head, Buffer.alloc((8 - (head.length % 8)) % 8), body]);
}

test('a call is what the specification says, byte by byte', () => {
  const call = { serial: 1, destination: 'a.b', path: '/c', interface: 'd.e', member: 'F', body: { list: ['x'] } };
  const fields = [
    '01 01 6f 00 02 00 00 00 2f 63 00 00 00 00 00 00',
    '02 01 73 00 03 00 00 00 64 2e 65 00 00 00 00 00',
    '03 01 73 00 01 00 00 00 46 00 00 00 00 00 00 00',
    '06 01 73 00 03 00 00 00 61 2e 62 00 00 00 00 00',
    '08 01 67 00 02 61 73 00',
  ];
  const expected = ['6c 01 02 01 0a 00 00 00 01 00 00 00 48 00 00 00', ...fields, '06 00 00 00 01 00 00 00 78 00'];
  expect(encodeCall(call).toString('hex')).toBe(expected.join('').replaceAll(' ', ''));
});

test.each([true, false])('answers are read in both byte orders: %s', (isLittle) => {
  const text = (value: string) => Buffer.concat([word(value.length, isLittle), Buffer.from(value), Buffer.alloc(1)]);
  const pad = Buffer.alloc(2);
  const body = Buffer.concat([text('a'), pad, word(42, isLittle), Buffer.from([1, 0x75, 0, 0]), word(9, isLittle)]);
  const bytes = answer('suv', body, { isLittle });
  expect(decodeMessage(bytes, most)).toEqual({
    bytes: bytes.length,
    message: { kind: 'return', replyTo: 7, errorName: null, body: ['a', 42, 9] },
  });
  for (const length of [0, 15, 16, bytes.length - 1])
    expect(decodeMessage(bytes.subarray(0, length), most).message).toBeNull();
});

test('lists of nothing, and values in values, end', () => {
  expect(() => decodeMessage(answer('a()', word(1_000, true)), most)).toThrow(WireError);
  const nested = Buffer.concat([
    ...Array.from({ length: 40 }, () => Buffer.from([1, 0x76, 0])),
    Buffer.from([1, 0x79, 0, 1]),
  ]);
  expect(() => decodeMessage(answer('v', nested), most)).toThrow('values in values');
});

test('whatever comes is a message, not yet one, or an error with its reason', () => {
  const signature = fc.stringMatching(/^[ybnqiuxtdsogav(){}h]{0,12}$/);
  fc.assert(
    fc.property(signature, fc.uint8Array({ maxLength: 200 }), fc.boolean(), (codes, bytes, isLittle) => {
      try {
        decodeMessage(answer(codes, Buffer.from(bytes), { isLittle }), most);
      } catch (error) {
        expect(error).toBeInstanceOf(WireError);
      }
    }),
    { numRuns: 2_000 },
  );
});
