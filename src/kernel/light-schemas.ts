import { z } from 'zod';

// Imported before everything that makes schemas: a schema takes a kilobyte, there are thousands, and a third of it is never used.
// zod has no public way to be without. test/contract/light-schemas.test.ts has what this relies on.

interface Schema {
  readonly _zod: { readonly constr: object; traits: ReadonlySet<string> };
}

// The names of a schema's classes: zod makes a set for each schema, and it is the same for all that one constructor makes.
const traitsOf = new Map<object, ReadonlySet<string>>();

// `z.int().min(1).describe('')` makes three schemas, each of which would keep the one before it. zod looks there for a description only, so
// `describe` and `meta` come last, and once.
const noParent: PropertyDescriptor = { get: () => undefined, set: () => {} };

z.config({
  postProcessor({ _zod: internals }: Schema) {
    const traits = traitsOf.get(internals.constr);
    if (traits === undefined) {
      traitsOf.set(internals.constr, internals.traits);
      const prototype: object = Object.getPrototypeOf(internals);
      // That of all objects is no place for it, should zod have no other one day.
      if (prototype !== Object.prototype) Object.defineProperty(prototype, 'parent', noParent);
    } else if (traits.size === internals.traits.size) internals.traits = traits;
  },
});
