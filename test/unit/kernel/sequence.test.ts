import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type SequenceEntry, Sequence } from '#kernel/sequence.ts';

const step = fc.oneof(
  fc.record({ kind: fc.constant('add' as const) }),
  fc.record({ kind: fc.constant('shift' as const) }),
  fc.record({ kind: fc.constant('leave' as const), which: fc.nat({ max: 30 }) }),
);

test('items stand in the order in which they came, whoever leaves between them and however often', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const sequence = new Sequence<number>();
      const places: SequenceEntry[] = [];
      let expected: number[] = [];
      for (const one of steps) {
        if (one.kind === 'add') {
          expected.push(places.length);
          places.push(sequence.add(places.length));
        } else if (one.kind === 'shift') {
          sequence.shift();
          expected = expected.slice(1);
        } else {
          places[one.which]?.leave();
          expected = expected.filter((item) => item !== one.which);
        }
        expect(sequence.items()).toEqual(expected);
        expect(sequence.first).toBe(expected[0] ?? null);
        expect(sequence.find((item) => item % 2 === 1)).toBe(expected.find((item) => item % 2 === 1) ?? null);
        expect(sequence.size).toBe(expected.length);
      }
    }),
  );
});
