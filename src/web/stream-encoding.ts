import { constants, crc32, deflateRawSync } from 'node:zlib';

/** A piece of a stream of events, encoded once for all its viewers. */
export interface StreamPiece {
  readonly plain: Buffer;
  /** The same as whole blocks of DEFLATE (RFC 1951) that need nothing that came before: every viewer can be sent them. */
  readonly packed: Buffer;
}

export function encodePiece(text: string): StreamPiece {
  const plain = Buffer.from(text);
  return { plain, packed: deflateRawSync(plain, { level: 9, finishFlush: constants.Z_SYNC_FLUSH }) };
}

/** What a viewer is sent, in the form that it takes. */
export interface StreamEncoder {
  /** What the stream begins with. */
  readonly head: Buffer;
  next(piece: StreamPiece): Buffer;
  /** What the stream ends with. */
  end(): Buffer;
}

const nothing = Buffer.alloc(0);

export const plainEncoder: StreamEncoder = { head: nothing, next: ({ plain }) => plain, end: () => nothing };

// Of an unknown time and system (RFC 1952, section 2.3).
const gzipHead = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
// An empty block, the last one.
const lastBlock = [3, 0];

/** Makes one gzip stream (RFC 1952) of pieces. Only the checksum is a viewer's own. */
export function gzipEncoder(): StreamEncoder {
  let checksum = 0;
  let length = 0;
  return {
    head: gzipHead,
    next({ plain, packed }) {
      checksum = crc32(plain, checksum);
      length = (length + plain.length) % 2 ** 32;
      return packed;
    },
    end() {
      const trailer = Buffer.from([...lastBlock, 0, 0, 0, 0, 0, 0, 0, 0]);
      trailer.writeUInt32LE(checksum, 2);
      trailer.writeUInt32LE(length, 6);
      return trailer;
    },
  };
}
