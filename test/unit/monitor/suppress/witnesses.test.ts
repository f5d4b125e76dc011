import { array, assert, constant, constantFrom, dictionary, nat, oneof, property, record, subarray } from 'fast-check';
import { expect, test } from 'vitest';
import { createWitnesses } from '#monitor/suppress/witnesses.ts';

const names = ['a', 'b', 'c', 'd', 'e'] as const;
const hosts = ['one', 'two', 'three'] as const;

const name = constantFrom(...names);
const step = oneof(
  record({ kind: constant('up' as const), name }),
  record({ kind: constant('silent' as const), name }),
  record({ kind: constant('taken for up' as const), name }),
  record({
    kind: constant('changed' as const),
    targets: dictionary(name, constantFrom(...hosts), { noNullPrototype: true }),
    failing: subarray([...names]),
  }),
);

test('the number of witnesses is that of the hosts of living targets and of those that are given, whatever happened before', () => {
  assert(
    property(array(step, { maxLength: 30 }), subarray([...hosts]), nat(4), (steps, others, most) => {
      const known = createWitnesses();
      let targets = new Map<string, string>();
      for (const one of steps) {
        if (one.kind === 'up') known.seenUp(one.name, 1);
        else if (one.kind === 'silent') known.seenSilent(one.name);
        else if (one.kind === 'taken for up') known.takeForUp([one.name]);
        else {
          targets = new Map(Object.entries(one.targets));
          known.change(targets, new Set(one.failing));
        }
      }
      const living = [...targets].filter(([target]) => known.isLiving(target));
      expect(known.living).toBe(living.length);
      const all = new Set([...living.map(([, host]) => host), ...others]);
      expect(known.countWithLiving(most, others)).toBe(Math.min(all.size, most));
      for (const [target, host] of targets) expect(known.witnessOf(target)).toBe(host);
      expect(known.witnessOf('nothing')).toBe('');
    }),
  );
});
