import type { AddressFamily } from '../address.ts';

/** Length of an echo's header: type, code, checksum, identifier, sequence (RFC 792; RFC 4443 section 4.1). */
const headerLength = 8;

const types = { 4: { request: 8, reply: 0 }, 6: { request: 128, reply: 129 } } as const;

/** What an echo request or reply says. `payload` shares its memory with the packet. */
export interface Echo {
  readonly identifier: number;
  readonly sequence: number;
  readonly payload: Uint8Array;
}

/** An echo request, ready to be sent again and again with another sequence number. */
export interface EchoRequest {
  readonly packet: Uint8Array;
  readonly payload: Uint8Array;
  /** Writes the sequence number and, for IPv4, the checksum; the kernel writes the one of ICMPv6. */
  number(sequence: number): void;
}

export function createEchoRequest(family: AddressFamily, identifier: number, payload: Uint8Array): EchoRequest {
  const packet = new Uint8Array(new ArrayBuffer(headerLength + payload.length));
  const view = new DataView(packet.buffer);
  view.setUint8(0, types[family].request);
  view.setUint16(4, identifier);
  packet.set(payload, headerLength);
  const sum = sumWords(packet, 0);
  return {
    packet,
    payload: packet.subarray(headerLength),
    number(sequence) {
      view.setUint16(6, sequence);
      if (family === 4) view.setUint16(2, ~fold(sum + sequence) & 0xffff);
    },
  };
}

/** The internet checksum (RFC 1071); 0 for bytes that carry their own right one. */
export function checksum(bytes: Uint8Array): number {
  return ~fold(sumWords(bytes, 0)) & 0xffff;
}

/** Reads an ICMP message as an echo reply; null for anything else. */
export function readEchoReply(family: AddressFamily, message: Uint8Array): Echo | null {
  return readEcho(types[family].reply, message);
}

/** Reads the beginning of our own request as an ICMP error quotes it: at least its header; null for anything else. */
export function readEchoRequest(family: AddressFamily, message: Uint8Array): Echo | null {
  return readEcho(types[family].request, message);
}

/** The ICMP message inside an IPv4 packet, as raw sockets receive it; null if there is none. */
export function stripIpv4Header(packet: Uint8Array): Uint8Array | null {
  const first = packet[0] ?? 0;
  const length = (first & 0x0f) * 4;
  if (first >> 4 !== 4 || length < 20 || packet.length < length + headerLength) return null;
  return packet.subarray(length);
}

/** True if two payloads are byte for byte the same. */
export function samePayload(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && Buffer.compare(one, other) === 0;
}

function readEcho(type: number, message: Uint8Array): Echo | null {
  if (message.length < headerLength || message[0] !== type || message[1] !== 0) return null;
  return { identifier: word(message, 4), sequence: word(message, 6), payload: message.subarray(headerLength) };
}

function word(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
}

function sumWords(bytes: Uint8Array, start: number): number {
  let sum = 0;
  for (let at = start; at < bytes.length; at += 2) sum += word(bytes, at);
  return sum;
}

function fold(sum: number): number {
  let folded = sum;
  while (folded > 0xffff) folded = (folded & 0xffff) + Math.floor(folded / 0x10000);
  return folded;
}
