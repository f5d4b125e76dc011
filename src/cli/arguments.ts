import { InvalidArgumentError } from 'commander';

/** A whole number above 0. */
export function countOf(word: string): number {
  const count = Number(word);
  if (Number.isInteger(count) && count > 0) return count;
  throw new InvalidArgumentError('Expected a whole number above 0.');
}
