import type { Detail } from './detail.ts';

/**
 * A `HealthCheckRequest` as it goes over the wire: a flag for compression, its length, and the service as field 1
 * (gRPC's PROTOCOL-HTTP2.md; grpc.health.v1).
 */
export function encodeRequest(service: string): Buffer {
  const name = Buffer.from(service);
  const field = name.length === 0 ? name : Buffer.concat([Buffer.from([0x0a, ...varint(name.length)]), name]);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(field.length, 1);
  return Buffer.concat([head, field]);
}

const statuses = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'] as const;

/** The status in a `HealthCheckResponse`; null if the bytes are none. Fields that are not known are skipped. */
export function readResponse(bytes: Buffer): Detail['health'] {
  if (bytes.length < 5 || bytes[0] !== 0 || bytes.readUInt32BE(1) !== bytes.length - 5) return null;
  const message = bytes.subarray(5);
  // A field that is not there has its default, which is the first.
  let status = 0;
  for (let at = 0; at < message.length;) {
    const tag = varintAt(message, at);
    if (tag === null || tag.value < 8) return null;
    const field = fieldAt(message, tag.end, tag.value % 8);
    if (field === null || field.end > message.length) return null;
    const isStatus = Math.floor(tag.value / 8) === 1;
    if (isStatus && field.value === null) return null;
    if (isStatus) status = field.value ?? 0;
    at = field.end;
  }
  return statuses[status] ?? null;
}

interface ProtobufField {
  /** Null if it is no varint. */
  readonly value: number | null;
  readonly end: number;
}

// Protocol Buffers, "Message Structure"; groups are no longer written.
function fieldAt(message: Buffer, at: number, wireType: number): ProtobufField | null {
  switch (wireType) {
    case 0:
      return varintAt(message, at);
    case 1:
      return { value: null, end: at + 8 };
    case 2: {
      const length = varintAt(message, at);
      return length === null ? null : { value: null, end: length.end + length.value };
    }
    case 5:
      return { value: null, end: at + 4 };
    default:
      return null;
  }
}

const longestVarint = 10;

// Beyond 2^53 a value is not exact, which none here needs.
function varintAt(message: Buffer, at: number): { readonly value: number; readonly end: number } | null {
  let value = 0;
  for (let index = 0; index < longestVarint; index += 1) {
    const byte = message[at + index];
    if (byte === undefined) return null;
    value += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) return { value, end: at + index + 1 };
  }
  return null;
}

function varint(value: number): readonly number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >> 7)];
}
