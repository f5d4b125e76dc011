import { expect, test } from 'vitest';
import { readResponse } from '#checks/grpc/message.ts';

function framed(hex: string): Buffer {
  const message = Buffer.from(hex.replaceAll(' ', ''), 'hex');
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

// Protocol Buffers, "Encoding" and "Unknown Fields": what a newer server adds is skipped, and the last of several values counts.
test.each([
  ['no field', '', 'UNKNOWN'],
  ['the default, written out', '08 00', 'UNKNOWN'],
  ['the status', '08 01', 'SERVING'],
  ['the status twice', '08 01 08 02', 'NOT_SERVING'],
  ['the status in more bytes than it takes', '08 81 00', 'SERVING'],
  ['a text behind it', '08 01 12 03 616263', 'SERVING'],
  ['a text before it', '12 03 080208 08 01', 'SERVING'],
  ['a large number, 8 bytes and 4 bytes', '10 ffffffffffffffffff01 19 0802080208020802 25 08020802 08 01', 'SERVING'],
  ['a field with a long number', 'fa07 01 08 08 02', 'NOT_SERVING'],
  ['another field alone', '12 00', 'UNKNOWN'],
])('the health in %s', (_, hex, health) => {
  expect(readResponse(framed(hex))).toBe(health);
});

test.each([
  ['a status that is none', '08 04'],
  ['a number that is cut off', '08 81'],
  ['a number that does not end', '08 ffffffffffffffffffffff01'],
  ['a text that is cut off', '08 01 12 05 616263'],
  ['8 bytes that are cut off', '08 01 19 0802'],
  ['a kind of field that there is not', '08 01 17'],
  ['a status as a text', '0a 01 01'],
  ['a field without a number', '00 01'],
])('there is no health in %s', (_, hex) => {
  expect(readResponse(framed(hex))).toBeNull();
});
