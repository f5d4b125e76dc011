/** Bytes that are gathered to parts. */
export interface ByteParts {
  /** Adds bytes; gives those before them if a part is full with these, else null. */
  add(bytes: Uint8Array): Uint8Array | null;
  /** Gives the bytes that were not given yet, and begins anew; null if there are none. */
  end(): Uint8Array | null;
}

/**
 * Gathers bytes to parts of so many, or more if what is added at once is longer. With `reused`, so many parts share their room in turn:
 * one holds until so many more begin.
 */
export function createByteParts(partBytes: number, reused = 0): ByteParts {
  const free: Buffer[] = [];
  let part: Buffer | null = null;
  let used = 0;

  function roomFor(length: number): Buffer {
    const again = length <= partBytes && free.length >= reused ? free.shift() : undefined;
    return again ?? Buffer.allocUnsafeSlow(Math.max(partBytes, length));
  }

  function end(): Uint8Array | null {
    const given = part?.subarray(0, used) ?? null;
    if (reused > 0 && part?.length === partBytes) free.push(part);
    part = null;
    used = 0;
    return given;
  }

  return {
    add(bytes) {
      const full = part !== null && used + bytes.length > part.length ? end() : null;
      if (bytes.length === 0) return full;
      part ??= roomFor(bytes.length);
      part.set(bytes, used);
      used += bytes.length;
      return full;
    },
    end,
  };
}
