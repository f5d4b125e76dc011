import { createHash } from 'node:crypto';

/** A number in [0, 1) that depends on the text alone: the same on every machine and in every version. */
export function stableFraction(text: string): number {
  return createHash('sha256').update(text).digest().readUIntBE(0, 6) / 2 ** 48;
}

/** In small hexadecimal digits. */
export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Multiples of it, without their whole part, are spread evenly over 0 to 1. */
export const goldenRatio = 0.618_033_988_75;
