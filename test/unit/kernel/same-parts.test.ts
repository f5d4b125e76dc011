import { assert, jsonValue, property } from 'fast-check';
import { expect, test } from 'vitest';
import { isSameAsJson, sharingParts, withFieldsOf } from '#kernel/same-parts.ts';
import { Secret } from '#kernel/secret.ts';

test('two values are the same exactly if they are the same as JSON', () => {
  const value = jsonValue({ maxDepth: 3 });
  assert(
    property(value, value, (one, other) => {
      // JSON has no -0.
      const [copy, left, right] = [one, one, other].map((each) => JSON.parse(JSON.stringify(each)) as unknown);
      expect(isSameAsJson(copy, left)).toBe(true);
      expect(isSameAsJson(left, right)).toBe(sorted(left) === sorted(right));
    }),
  );
});

test('of a class nothing is compared: two secrets are never the same', () => {
  const [one, other] = [new Secret('a'), new Secret('b')];
  expect(isSameAsJson(one, other)).toBe(false);
  expect(isSameAsJson({ token: one }, { token: other })).toBe(false);
  expect(isSameAsJson({ token: one }, { token: one })).toBe(true);
  expect(isSameAsJson(new Map([[1, 2]]), new Map())).toBe(false);
  expect(withFieldsOf({ token: one }, { token: other }).token).toBe(other);
});

test('fields that are the same are those of the other object, and no field comes or goes', () => {
  const known = { tls: { verify: true }, expect: { status: [200] }, gone: [1] };
  const value = { tls: { verify: true }, expect: { status: [201] }, own: [2] };
  const shared = withFieldsOf<object>(known, value) as typeof value;
  expect(shared).toEqual(value);
  expect(shared.tls).toBe(known.tls);
  expect(shared.expect).toBe(value.expect);
});

test('targets share what is the same in the one before of their check type', () => {
  const target = (type: string, host: string) => ({
    name: host,
    labels: { team: 'shop' },
    spec: { type, host, tls: { verify: true } },
  });
  const targets = [target('http', 'a'), target('tcp', 'b'), target('http', 'c')];
  const shared = targets.map(sharingParts());
  expect(shared).toEqual(targets);
  const [first, other, second] = shared;
  expect(second?.labels).toBe(first?.labels);
  expect(second?.spec.tls).toBe(first?.spec.tls);
  expect(other?.labels).not.toBe(first?.labels);
});

const sorted = (value: unknown): string =>
  JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
