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
  /** The content codings to undo, in the order in which they were applied; without any the bytes are read as they come. */
  readonly codings: readonly string[];
  /** Once the stream has ended: whether the body has. */
  readonly isWhole: () => boolean;
  /** Whether the content is wanted; otherwise it is counted only. */
  readonly keep: boolean;
  /** Called with all that is read, also of a body that ends early. */
  readonly onBytes?: ((bytes: Buffer) => void) | undefined;
}

export const emptyBody: Body = { bytes: 0, complete: true, content: Buffer.alloc(0) };

/** The content codings of a body, in the order in which they were applied (RFC 9110, section 8.4); those that do nothing are left out. */
export function codingsIn(header: string | undefined): readonly string[] {
  const names = (header ?? '').split(',').map((name) => name.trim().toLowerCase());
  return names.filter((name) => !idle.has(name));
}

/** Why a body with these codings cannot be read; null if `readBody` undoes them. */
export function codingFault(codings: readonly string[]): string | null {
  const unknown = codings.find((name) => !decoders.has(name));
  if (unknown !== undefined) return `the body has the unknown content coding "${unknown}"`;
  return codings.length > mostCodings ? `the body has ${codings.length} content codings` : null;
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
  { limit, codings, keep, isWhole, onBytes }: BodyOptions,
): Promise<Body> {
  const layers = codings.toReversed().flatMap((name) => {
    const decoder = decoders.get(name)?.();
    return decoder === undefined ? [] : [{ name, decoder }];
  });
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
      const end = () => (isWhole() ? finish(true) : reject(new EndedEarly()));
      let encodedBytes = 0;
      if (layers.length > 0) stream.on('data', ({ length }: Buffer) => void (encodedBytes += length));
      let source = stream;
      for (const { name, decoder } of layers) {
        // No bytes are not valid in any coding, but servers name one for empty bodies, and for answers that have none.
        decoder.on('error', (cause) =>
          encodedBytes === 0 ? end() : reject(new Error(`the body is not valid ${name}`, { cause })),
        );
        source = source.pipe(decoder);
      }
      source.on('data', take);
      source.once('end', end);
    });
  } finally {
    for (const { decoder } of layers) decoder.destroy();
  }
}

/** A connection or stream that ended before what it carried was whole. */
export class EndedEarly extends Error {
  override readonly name = 'EndedEarly';

  constructor() {
    super('connection closed');
  }
}

// Each layer multiplies what a few bytes can become: curl takes as many.
const mostCodings = 5;

// "none" is no coding by name, but servers send it.
const idle: ReadonlySet<string> = new Set(['', 'identity', 'none']);

const decoders: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
  ['zstd', createZstdDecompress],
]);
