import { isDeepStrictEqual } from 'node:util';
import { Secret } from '#kernel/secret.ts';

/** Whether two parts of a configuration say the same, secrets included. */
export function isSame(one: unknown, other: unknown): boolean {
  if (one instanceof Secret && other instanceof Secret) return one.reveal() === other.reveal();
  if (!isCollection(one) || !isCollection(other)) return isDeepStrictEqual(one, other);
  const [mine, theirs] = [Object.entries(one), new Map(Object.entries(other))];
  return (
    Array.isArray(one) === Array.isArray(other) &&
    mine.length === theirs.size &&
    mine.every(([key, value]) => theirs.has(key) && isSame(value, theirs.get(key)))
  );
}

function isCollection(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  return Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
}
