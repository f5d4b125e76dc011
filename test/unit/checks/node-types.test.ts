import { expect, test } from 'vitest';
import { z } from 'zod';
import { checkOf, CheckSpec, nodeTypeNames } from '#checks/index.ts';
import { nodeTypeNames as loadable, nodeTypeOf } from '#checks/node-types.ts';
import { systemClock } from '#kernel/clock.ts';
import { startProber } from '../../support/probe-once.ts';
import { seededRandom } from '../../support/seeded-random.ts';

test('nodes can load every type that they run, in the order of the list', () => {
  expect(loadable).toEqual(nodeTypeNames);
});

test.each(nodeTypeNames)('what is known about %s before it is loaded is what it says itself', async (type) => {
  const known = nodeTypeOf(type);
  const check = checkOf(type);
  expect([known?.isInternal ?? false, known?.sendsMany ?? false]).toEqual([check.isInternal, check.sendsMany]);
  expect(await known?.load()).toHaveProperty('start');
});

test.each(nodeTypeNames.filter((type) => nodeTypeOf(type)?.isAbleEverywhere))(
  '%s needs no trying out',
  async (type) => {
    const prober = await startProber(type, { clock: systemClock, random: seededRandom(), localAddress: {} });
    try {
      expect(prober.capability).toEqual({ able: true });
    } finally {
      await prober.close();
    }
  },
);

test('a type that only the hub knows, or nothing does, is not loaded', () => {
  expect(nodeTypeOf('heartbeat')).toBeNull();
  expect(nodeTypeOf('constructor')).toBeNull();
});

/** What is to be gathered about a target, as the thread of a node is told. */
function planOf(of: object): unknown {
  const spec = CheckSpec.parse({ type: 'evidence', host: 'a.example', of });
  // What is encoded for another machine is what was given.
  expect(z.encode(CheckSpec, spec)).toMatchObject({ of });
  return 'of' in spec ? structuredClone(spec.of.plan) : undefined;
}

test('about a target that cannot be read nothing is gathered, and that is said', () => {
  const cannotRead = 'this node cannot read the spec of the target';
  for (const of of [{ type: 'heartbeat' }, { type: 'tcp' }, { type: 'constructor' }, {}])
    expect(planOf(of)).toBe(cannotRead);
  expect(planOf({ type: 'docker', host: 'shop' })).toBe('there is no evidence of type docker');
});

test('what to gather about a target comes from its own type', () => {
  expect(planOf({ type: 'tcp', host: 'a.example:80' })).toMatchObject({ name: 'a.example' });
  expect(planOf({ type: 'udp', host: 'a.example:123' })).toMatchObject({ datagram: { port: 123, payload: 'ntp' } });
});
