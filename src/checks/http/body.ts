import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';

export interface Body {
  /** How many bytes were read, at most the limit. */
  readonly bytes: number;
  /** False if there was more than the limit. */
  readonly complete: boolean;
  /** The bytes, decompressed, or null if they are not needed. */
  readonly content: Buffer | null;
}

export interface BodyOptions {
  readonly limit: number;
  /** The content coding to undo (RFC 9110, section 8.4.1); null reads the bytes as they come. */
  readonly coding: string | null;
  /** Once the stream has ended: whether the body has. */
  readonly isWhole: () => boolean;
  /** Whether the content is wanted; otherwise it is counted only. */
  readonly keep: boolean;
  /** Called with all that is read, also of a body that ends early. */
  readonly onBytes?: ((bytes: Buffer) => void) | undefined;
}

export const emptyBody: Body = { bytes: 0, complete: true, content: Buffer.alloc(0) };

/** The codings that `readBody` undoes. */
export function isKnownCoding(coding: string): boolean {
  return coding === 'identity' || decoders.has(coding);
}

/** A body that is there already, up to the limit. */
export function arrivedBody(
  pieces: readonly Buffer[],
  { limit, keep, onBytes }: Pick<BodyOptions, 'limit' | 'keep' | 'onBytes'>,
): Body {
  let bytes = 0;
  for (const { length } of pieces) bytes += length;
  const kept = Math.min(bytes, limit);
  onBytes?.(Buffer.concat(pieces).subarray(0, kept));
  return { bytes: kept, complete: bytes <= limit, content: keep ? Buffer.concat(pieces).subarray(0, kept) : null };
}

/**
 * Reads to the end or to the limit, counted after decompression; whatever more there is stays unread. Rejects if the stream
 * fails, ends early or is not in its coding. The caller destroys the stream.
 */
export async function readBody(
  stream: Readable,
  { limit, coding, keep, isWhole, onBytes }: BodyOptions,
): Promise<Body> {
  const decoder = coding === null ? null : (decoders.get(coding)?.() ?? null);
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    return await new Promise((resolve, reject) => {
      const finish = (complete: boolean) => resolve({ bytes, complete, content: keep ? Buffer.concat(chunks) : null });
      const take = (chunk: Buffer) => {
        const left = limit - bytes;
        const taken = chunk.length > left ? chunk.subarray(0, left) : chunk;
        bytes += taken.length;
        onBytes?.(taken);
        if (keep) chunks.push(taken);
        if (chunk.length > left) finish(false);
      };
      // It may have failed before a listener was attached.
      if (stream.errored !== null) reject(stream.errored);
      stream.on('error', reject);
      stream.once('close', () => {
        if (!stream.readableEnded) reject(new EndedEarly());
      });
      decoder?.on('error', (cause) => reject(new Error(`the body is not valid ${coding ?? ''}`, { cause })));
      const source = decoder === null ? stream : stream.pipe(decoder);
      source.on('data', take);
      source.once('end', () => (isWhole() ? finish(true) : reject(new EndedEarly())));
    });
  } finally {
    decoder?.destroy();
  }
}

/** A connection or stream that ended before what it carried was whole. */
export class EndedEarly extends Error {
  override readonly name = 'EndedEarly';

  constructor() {
    super('connection closed');
  }
}

const decoders: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
  ['zstd', createZstdDecompress],
]);
