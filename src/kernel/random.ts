/** Where chance comes from. */
export interface Random {
  /** Evenly distributed in [0, 1). */
  next(): number;
  /** `length` unpredictable letters and digits: about 5.95 bits each. */
  id(length: number): string;
  /** `length` unguessable bytes. */
  bytes(length: number): Uint8Array<ArrayBuffer>;
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const unbiased = 256 - (256 % alphabet.length);

// A call of the system for every identifier or token would cost more than all else that one is made of.
const poolLength = 4_096;
const mostFromPool = 64;
let pool = new Uint8Array(0);
let used = 0;

// Not imported: health and --version load this file with others and need no chance, which would be 2 MB of theirs.
const randomBytes = (length: number) => process.getBuiltinModule('node:crypto').randomBytes(length);

function nextByte(): number {
  if (used === pool.length) {
    pool = randomBytes(poolLength);
    used = 0;
  }
  const byte = pool[used] ?? 0;
  pool[used] = 0;
  used += 1;
  return byte;
}

/** Chance from the machine; `id` and `bytes` are cryptographically strong. */
export const systemRandom: Random = {
  next: () => Math.random(),
  id(length) {
    let text = '';
    while (text.length < length) {
      const byte = nextByte();
      if (byte < unbiased) text += alphabet.charAt(byte % alphabet.length);
    }
    return text;
  },
  bytes: (length) =>
    length > mostFromPool ? new Uint8Array(randomBytes(length)) : Uint8Array.from({ length }, nextByte),
};
