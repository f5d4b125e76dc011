import { aligned, type Value, ValueReader, WireError } from './value-reader.ts';

export interface BusMessage {
  readonly kind: 'call' | 'return' | 'error' | 'signal' | 'other';
  /** The serial of the call that it answers. */
  readonly replyTo: number | null;
  readonly errorName: string | null;
  readonly body: readonly Value[];
}

export interface BusFrame {
  /** How long the message is, as far as its header is there. */
  readonly bytes: number;
  /** Null until all of it is there. */
  readonly message: BusMessage | null;
}

const kinds = ['other', 'call', 'return', 'error', 'signal'] as const;
const headerBytes = 16;
const littleEndian = 0x6c;
const bigEndian = 0x42;
const fields = { errorName: 4, replyTo: 5, signature: 8 } as const;

/** The first message in `bytes` (D-Bus specification, "Message Protocol"). Throws a `WireError` for what is none, or is longer than `most`. */
export function decodeMessage(bytes: Buffer, most: number): BusFrame {
  if (bytes.length < headerBytes) return { bytes: headerBytes, message: null };
  const order = bytes[0];
  if ((order !== littleEndian && order !== bigEndian) || bytes[3] !== 1)
    throw new WireError('no message of D-Bus, version 1');
  const isLittle = order === littleEndian;
  const uintAt = (at: number) => (isLittle ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at));
  const bodyAt = aligned(headerBytes + uintAt(12), 8);
  const length = bodyAt + uintAt(4);
  if (length > most) throw new WireError(`a message of ${length} bytes`);
  if (bytes.length < length) return { bytes: length, message: null };
  const header = new Map<number, Value>();
  const [list = []] = new ValueReader(bytes.subarray(12, bodyAt), isLittle, 12).all('a(yv)');
  for (const field of Array.isArray(list) ? list : []) {
    const [code, value] = Array.isArray(field) ? field : [];
    if (typeof code === 'number' && value !== undefined) header.set(code, value);
  }
  const signature = header.get(fields.signature) ?? '';
  const replyTo = header.get(fields.replyTo);
  const errorName = header.get(fields.errorName);
  return {
    bytes: length,
    message: {
      kind: kinds[bytes[1] ?? 0] ?? 'other',
      replyTo: typeof replyTo === 'number' ? replyTo : null,
      errorName: typeof errorName === 'string' ? errorName : null,
      body: new ValueReader(bytes.subarray(bodyAt, length), isLittle).all(String(signature)),
    },
  };
}
