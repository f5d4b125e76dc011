import { BitReader, BitWriter } from './bits.ts';
import type { ByteReader, ByteWriter } from './bytes.ts';

// Rice coding: what is above 2^k as so many ones, what is below it as k bits. Times of one target are alike, so that a number
// takes few bits more than its randomness. A number far above the others is written out in full after a mark.
const markOnes = 24;
const fullBits = 53;
const longestK = 40;

/** Writes whole numbers from 0 to 2^53 that are of about one size: as they are above the least, or as they differ from the one before. */
export function writeNumbers(bytes: ByteWriter, numbers: readonly number[]): void {
  if (numbers.length === 0) return;
  let least = numbers[0] ?? 0;
  for (const number of numbers) if (number < least) least = number;
  const above = numbers.map((number) => number - least);
  const steps = differencesOf(numbers);
  const [kAbove, kSteps] = [bestK(above), bestK(steps)];
  const useSteps = costOf(steps, kSteps) < costOf(above, kAbove);
  bytes.unsigned((useSteps ? kSteps : kAbove) * 2 + (useSteps ? 1 : 0));
  bytes.unsigned(useSteps ? (numbers[0] ?? 0) : least);
  const bits = new BitWriter();
  for (const number of useSteps ? steps : above) writeRice(bits, number, useSteps ? kSteps : kAbove);
  const written = bits.done();
  bytes.unsigned(written.length);
  bytes.raw(written);
}

/** Reads `count` numbers that `writeNumbers` wrote. */
export function readNumbers(bytes: ByteReader, count: number): readonly number[] {
  if (count === 0) return [];
  const word = bytes.unsigned();
  const k = Math.floor(word / 2);
  const first = bytes.unsigned();
  const bits = new BitReader(bytes.raw(bytes.unsigned()));
  const numbers: number[] = [];
  let last = first;
  for (let index = 0; index < count; index += 1) {
    const value = readRice(bits, k);
    if (word % 2 === 0) numbers.push(first + value);
    else {
      last += value % 2 === 1 ? -(value + 1) / 2 : value / 2;
      numbers.push(last);
    }
  }
  return numbers;
}

// Differences with their sign in the lowest bit. The first is none: it is written before them. If one would not fit, none do.
function differencesOf(numbers: readonly number[]): readonly number[] {
  let last = numbers[0] ?? 0;
  return numbers.map((number) => {
    const step = number - last;
    last = number;
    return step < 0 ? -step * 2 - 1 : step * 2;
  });
}

function writeRice(bits: BitWriter, value: number, k: number): void {
  const ones = Math.floor(value / 2 ** k);
  if (ones >= markOnes) {
    for (let index = 0; index < markOnes; index += 1) bits.bit(1);
    bits.bits(value, fullBits);
    return;
  }
  for (let index = 0; index < ones; index += 1) bits.bit(1);
  bits.bit(0);
  bits.bits(value, k);
}

function readRice(bits: BitReader, k: number): number {
  let ones = 0;
  while (ones < markOnes && bits.bit() === 1) ones += 1;
  return ones === markOnes ? bits.bits(fullBits) : ones * 2 ** k + bits.bits(k);
}

function costOf(values: readonly number[], k: number): number {
  let bits = 0;
  for (const value of values) {
    if (value > Number.MAX_SAFE_INTEGER) return Number.POSITIVE_INFINITY;
    const ones = Math.floor(value / 2 ** k);
    bits += ones >= markOnes ? markOnes + fullBits : ones + 1 + k;
  }
  return bits;
}

// The cost has one valley, near the logarithm of the mean.
function bestK(values: readonly number[]): number {
  let sum = 0;
  for (const value of values) sum += Math.min(value, 2 ** longestK);
  let k = Math.max(0, Math.min(longestK, Math.floor(Math.log2(Math.max(1, sum / values.length)))));
  let cost = costOf(values, k);
  for (const direction of [-1, 1]) {
    for (let next = k + direction; next >= 0 && next <= longestK; next += direction) {
      const other = costOf(values, next);
      if (other >= cost) break;
      [k, cost] = [next, other];
    }
  }
  return k;
}
