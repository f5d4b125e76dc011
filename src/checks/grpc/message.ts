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

/** The status in a `HealthCheckResponse`; null if the bytes are none. */
export function readResponse(bytes: Buffer): Detail['health'] {
  if (bytes.length < 5 || bytes[0] !== 0 || bytes.readUInt32BE(1) !== bytes.length - 5) return null;
  const message = bytes.subarray(5);
  // A field that is not there has its default, which is the first.
  if (message.length === 0) return 'UNKNOWN';
  const [tag, status = -1] = message;
  return tag === 0x08 && message.length === 2 ? (statuses[status] ?? null) : null;
}

function varint(value: number): readonly number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >> 7)];
}
