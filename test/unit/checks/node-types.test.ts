import { expect, test } from 'vitest';
import { checkOf, nodeTypeNames } from '#checks/index.ts';
import { nodeTypeNames as loadable, nodeTypeOf, planOf } from '#checks/node-types.ts';
import { systemClock } from '#kernel/clock.ts';
import { seededRandom } from '../../support/seeded-random.ts';

test('nodes can load every type that they run, in the order of the list', () => {
  expect(loadable).toEqual(nodeTypeNames);
});

test.each(nodeTypeNames)('what is known about %s before it is loaded is what it says itself', async (type) => {
  const known = nodeTypeOf(type);
  const check = checkOf(type);
  expect([known?.isInternal ?? false, known?.sendsMany ?? false]).toEqual([check.isInternal, check.sendsMany]);
  expect((await known?.load())?.type).toBe(type);
});

test.each(nodeTypeNames.filter((type) => nodeTypeOf(type)?.isAbleEverywhere))(
  '%s needs no trying out',
  async (type) => {
    const prober = await checkOf(type).start({ clock: systemClock, random: seededRandom(), localAddress: {} });
    try {
      expect(prober.capability).toEqual({ able: true });
    } finally {
      await prober.close();
    }
  },
);

test('a type that only the hub knows, or nothing does, is not loaded', async () => {
  expect(nodeTypeOf('heartbeat')).toBeNull();
  expect(nodeTypeOf('constructor')).toBeNull();
  const cannotRead = 'this node cannot read the spec of the target';
  for (const of of [{ type: 'heartbeat' }, { type: 'tcp' }, {}]) expect(await planOf(of)).toBe(cannotRead);
});

test('what to gather about a target comes from its own type', async () => {
  expect(await planOf({ type: 'tcp', host: 'a.example:80' })).toMatchObject({ name: 'a.example' });
});
