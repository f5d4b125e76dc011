import { randomBytes } from 'node:crypto';

/** Where chance comes from. */
export interface Random {
  /** Evenly distributed in [0, 1). */
  next(): number;
  /** `length` letters and digits that nobody can guess: about 5.95 bits each. */
  id(length: number): string;
  /** `length` unguessable bytes. */
  bytes(length: number): Uint8Array<ArrayBuffer>;
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const unbiased = 256 - (256 % alphabet.length);

/** Chance from the machine; `id` and `bytes` are cryptographically strong. */
export const systemRandom: Random = {
  next: () => Math.random(),
  id(length) {
    let text = '';
    while (text.length < length) {
      for (const byte of randomBytes(length)) {
        if (byte < unbiased && text.length < length) text += alphabet.charAt(byte % alphabet.length);
      }
    }
    return text;
  },
  bytes: (length) => new Uint8Array(randomBytes(length)),
};
