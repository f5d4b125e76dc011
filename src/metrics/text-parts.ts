/** Text that becomes bytes piece by piece. */
export interface TextParts {
  /** Adds a text; gives the bytes of what came before it if a part is full with that, else null. */
  add(text: string): Uint8Array | null;
  /** Gives the bytes that were not given yet, and begins anew; null if there are none. */
  end(): Uint8Array | null;
}

/**
 * Gathers texts to parts of so many bytes, or more if a text alone is longer. A string that is put together piece by piece holds all
 * its pieces until it is written: much of that would outlive a collection and be cleared away only by a full one. Bytes are outside
 * of the heap. With `reused`, so many parts share their room in turn: one holds until so many more begin.
 */
export function createTextParts(partBytes: number, reused = 0): TextParts {
  const free: Buffer[] = [];
  let bytes: Buffer | null = null;
  let used = 0;

  function roomFor(length: number): Buffer {
    const again = length <= partBytes && free.length >= reused ? free.shift() : undefined;
    return again ?? Buffer.allocUnsafeSlow(Math.max(partBytes, length));
  }

  function end(): Uint8Array | null {
    const part = bytes?.subarray(0, used) ?? null;
    if (reused > 0 && bytes?.length === partBytes) free.push(bytes);
    bytes = null;
    used = 0;
    return part;
  }

  return {
    add(text) {
      const length = Buffer.byteLength(text);
      const full = bytes !== null && used + length > bytes.length ? end() : null;
      if (length > 0) bytes ??= roomFor(length);
      used += bytes?.write(text, used) ?? 0;
      return full;
    },
    end,
  };
}
