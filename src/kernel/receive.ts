import type { Readable } from 'node:stream';

export interface ReceivedBody {
  /** What came, at most as much as was asked for. */
  readonly bytes: Buffer;
  /** Whether there was more. */
  readonly isMore: boolean;
  /** What broke it off before its end, if anything did. */
  readonly broken: { readonly by: unknown } | null;
}

/** Takes a stream to its end, or as much of it as `mostBytes`, and leaves it destroyed. */
export async function receive(stream: Readable, mostBytes: number): Promise<ReceivedBody> {
  const pieces: Buffer[] = [];
  let length = 0;
  let broken: ReceivedBody['broken'] = null;
  try {
    for await (const piece of stream) {
      const read = Buffer.from(piece);
      pieces.push(read);
      length += read.length;
      if (length > mostBytes) break;
    }
  } catch (error) {
    broken = { by: error };
  } finally {
    // A request that was answered before all of it was sent still listens to its signal: its error would be unhandled.
    stream.destroy();
  }
  return { bytes: Buffer.concat(pieces).subarray(0, mostBytes), isMore: length > mostBytes, broken };
}
