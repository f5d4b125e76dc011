import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  checksum,
  createEchoRequest,
  readEchoReply,
  readEchoRequest,
  samePayload,
  stripIpv4Header,
} from '#checks/ping/packet.ts';

const family = fc.constantFrom<4 | 6>(4, 6);
const word = fc.integer({ min: 0, max: 0xffff });
const bytes = fc.uint8Array({ maxLength: 200 });

test('the checksum is that of RFC 1071 section 3', () => {
  expect(checksum(Uint8Array.of(0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7))).toBe(0x220d);
});

test('an odd number of bytes is summed as if a zero followed', () => {
  fc.assert(
    fc.property(bytes, (data) => checksum(data) === checksum(Uint8Array.of(...data, ...(data.length % 2 ? [0] : [])))),
  );
});

test('an IPv4 echo request has the bytes that other pings send', () => {
  const request = createEchoRequest(4, 0x1234, Uint8Array.of(1, 2, 3));
  request.number(0x0102);
  expect([...request.packet]).toEqual([8, 0, 0xe0, 0xc7, 0x12, 0x34, 0x01, 0x02, 1, 2, 3]);
});

test('an IPv6 echo request leaves the checksum to the kernel', () => {
  const request = createEchoRequest(6, 0x1234, Uint8Array.of(9));
  request.number(7);
  expect([...request.packet]).toEqual([128, 0, 0, 0, 0x12, 0x34, 0, 7, 9]);
});

test('every IPv4 request carries its own right checksum, whatever it was numbered before', () => {
  fc.assert(
    fc.property(word, fc.array(word, { minLength: 1 }), bytes, (identifier, sequences, payload) => {
      const request = createEchoRequest(4, identifier, payload);
      return sequences.every((sequence) => {
        request.number(sequence);
        return checksum(request.packet) === 0;
      });
    }),
  );
});

test('what was written as a request is read again as the same request', () => {
  fc.assert(
    fc.property(family, word, word, bytes, (family, identifier, sequence, payload) => {
      const request = createEchoRequest(family, identifier, payload);
      request.number(sequence);
      expect(readEchoRequest(family, request.packet)).toEqual({ identifier, sequence, payload });
      expect(readEchoReply(family, request.packet)).toBeNull();
    }),
  );
});

test('a reply is a request with another type', () => {
  fc.assert(
    fc.property(family, word, word, bytes, (family, identifier, sequence, payload) => {
      const request = createEchoRequest(family, identifier, payload);
      request.number(sequence);
      request.packet[0] = family === 4 ? 0 : 129;
      expect(readEchoReply(family, request.packet)).toEqual({ identifier, sequence, payload });
      expect(readEchoReply(family === 4 ? 6 : 4, request.packet)).toBeNull();
    }),
  );
});

test('arbitrary bytes are read as something or nothing, never with an error', () => {
  fc.assert(
    fc.property(family, bytes, (family, message) => {
      for (const echo of [readEchoReply(family, message), readEchoRequest(family, message)]) {
        if (echo !== null) expect(echo.payload).toHaveLength(message.length - 8);
      }
      const inner = stripIpv4Header(message);
      if (inner !== null) expect(inner.length).toBeGreaterThanOrEqual(8);
    }),
  );
});

test.each([
  { name: 'with the shortest header', head: [0x45], length: 20 },
  { name: 'with options', head: [0x4f], length: 60 },
])('an IPv4 header $name is taken off', ({ head, length }) => {
  const packet = new Uint8Array(length + 8).fill(7);
  packet.set(head);
  expect(stripIpv4Header(packet)).toHaveLength(8);
  expect(stripIpv4Header(packet.subarray(0, -1))).toBeNull();
});

test.each([
  { name: 'IPv6', first: 0x60 },
  { name: 'a header shorter than 20 bytes', first: 0x44 },
])('$name is no IPv4 packet', ({ first }) => {
  expect(stripIpv4Header(new Uint8Array(100).fill(first, 0, 1))).toBeNull();
});

test('payloads are the same only where every byte is', () => {
  fc.assert(
    fc.property(bytes, fc.nat(), fc.integer({ min: 1, max: 255 }), (payload, at, change) => {
      const copy = payload.slice();
      expect(samePayload(payload, copy)).toBe(true);
      expect(samePayload(payload, Uint8Array.of(...copy, 0))).toBe(false);
      const index = at % Math.max(payload.length, 1);
      copy[index] = (copy[index] ?? 0) ^ change;
      expect(samePayload(payload, copy)).toBe(payload.length === 0);
    }),
  );
});
