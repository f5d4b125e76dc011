import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { LineQueue } from '#export/line-queue.ts';

test('lines come out as they went in, the oldest dropped for want of room, and each is accounted for', () => {
  const step = fc.oneof(
    fc.record({ add: fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 6 }) }),
    fc.record({ take: fc.integer({ min: 1, max: 5 }), bytes: fc.integer({ min: 1, max: 20 }), isBack: fc.boolean() }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const queue = new LineQueue(30);
      let expected: string[] = [];
      let added = 0;
      for (const one of steps) {
        if ('add' in one) {
          const lines = one.add.map((length) => String((added += 1)).padEnd(length, '.'));
          const dropped = queue.add(lines);
          expected = [...expected, ...lines].slice(dropped);
        } else {
          const taken = queue.take(one.take, one.bytes);
          expect(taken).toEqual(expected.slice(0, taken.length));
          expect(taken.length).toBeLessThanOrEqual(one.take);
          if (expected.length > 0) expect(taken.length).toBeGreaterThan(0);
          if (one.isBack) expect(queue.putBack(taken)).toBe(0);
          else expected = expected.slice(taken.length);
        }
        expect(queue.length).toBe(expected.length);
        expect(expected.join('').length).toBeLessThanOrEqual(30);
      }
      expect(queue.take(Infinity, Infinity)).toEqual(expected);
    }),
  );
});

test('no more is dropped than is needed', () => {
  const queue = new LineQueue(10);
  expect(queue.add(['aaaa', 'bbbb'])).toBe(0);
  expect(queue.add(['cc'])).toBe(0);
  expect(queue.add(['d'])).toBe(1);
  expect(queue.take(2, 100)).toEqual(['bbbb', 'cc']);
  expect(queue.putBack(['bbbb', 'cc'])).toBe(0);
  expect(queue.add(['eeeeeeeeeee'])).toBe(4);
  expect(queue.length).toBe(0);
});
