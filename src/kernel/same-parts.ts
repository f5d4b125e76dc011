import { isRecord } from './json.ts';

// Thousands of targets are much alike, and so are the results of each: what many of them share is kept once.

/** The same object with those of its fields taken from another one that are the same there. */
export function withFieldsOf<Value extends object>(known: Value, value: Value): Value {
  const shared: object = { ...value };
  // Texts too: the same text may be there twice.
  for (const name in shared) {
    const other: unknown = Reflect.get(known, name);
    if (isSameAsJson(Reflect.get(shared, name), other)) Reflect.set(shared, name, other);
  }
  // Each field is one of the two values, and the same in both.
  return shared as Value; // oxlint-disable-line typescript/no-unsafe-type-assertion
}

/** Gives each target with what is the same in the one before of its check type taken from that. */
export function sharingParts<Item extends { readonly spec: { readonly type: string } }>(): (target: Item) => Item {
  const newest = new Map<string, Item>();
  return (target) => {
    const { type } = target.spec;
    const known = newest.get(type) ?? target;
    const shared = withFieldsOf(known, { ...target, spec: withFieldsOf(known.spec, target.spec) });
    newest.set(type, shared);
    return shared;
  };
}

/** Whether two values are the same, both made of what JSON has. Of a class, such as a secret, nothing is compared: it is itself only. */
// Without a closure in it: each call of a function that has one takes memory.
export function isSameAsJson(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (Array.isArray(one) && Array.isArray(other)) return areSame(one, other);
  if (!isPlain(one) || !isPlain(other)) return false;
  for (const name in one) if (!Object.hasOwn(other, name) || !isSameAsJson(one[name], other[name])) return false;
  return countFields(one) === countFields(other);
}

/** How many fields an object has. */
export function countFields(record: object): number {
  let count = 0;
  for (const _ in record) count += 1;
  return count;
}

/** Whether an object has fields of these names, in this order, and no others. */
export function hasNames(names: readonly string[], record: object): boolean {
  let count = 0;
  for (const name in record) if (names[count++] !== name) return false;
  return count === names.length;
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return isRecord(value) && Object.getPrototypeOf(value) === Object.prototype;
}

function areSame(some: readonly unknown[], others: readonly unknown[]): boolean {
  return some.length === others.length && some.every((item, index) => isSameAsJson(item, others[index]));
}
