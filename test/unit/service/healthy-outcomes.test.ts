import { expect, test } from 'vitest';
import { CheckSpec, type Outcome } from '#checks/index.ts';
import { createHealthyOutcomes } from '#service/healthy-outcomes.ts';
import type { TargetWatch } from '#service/target-watch.ts';
import { down, up } from '../../support/votes.ts';

type Place = Pick<TargetWatch, 'target' | 'healthy'>;

function place(name: string, host = `${name}.example.com:443`): Place {
  const spec = CheckSpec.parse({ type: 'tcp', host });
  const schedule = { kind: 'every', everyMs: 10_000 } as const;
  return { target: { name, spec, schedule, nodes: { kind: 'all' } }, healthy: null };
}

const seen = (seconds: number, address = '192.0.2.1'): Outcome => ({
  ...up(seconds, { phases: { connect: seconds }, facts: { hops: 3 }, address }),
  detail: { timed_by: 'kernel' },
});

test('an outcome shares what is the same with the one before of its target, and keeps its own times', () => {
  const sharing = createHealthyOutcomes();
  const shop = place('shop');
  const first = sharing(shop, seen(0.1));
  const second = sharing(shop, seen(0.2));
  expect(second).toEqual(seen(0.2));
  expect(second.facts).toBe(first.facts);
  expect(second.detail).toBe(first.detail);
  const kept = shop.healthy;
  expect(kept).toEqual({ ...seen(0.1), seconds: null });
  sharing(shop, seen(0.3));
  expect(shop.healthy).toBe(kept);
});

test('the first outcome of a target shares with another target of its check type', () => {
  const sharing = createHealthyOutcomes();
  const first = sharing(place('shop'), seen(0.1));
  const other = sharing(place('mail'), seen(0.3, '192.0.2.2'));
  expect(other).toEqual(seen(0.3, '192.0.2.2'));
  expect(other.facts).toBe(first.facts);
  expect(other.detail).toBe(first.detail);
});

test('after a change the new parts are the ones that are shared', () => {
  const sharing = createHealthyOutcomes();
  const shop = place('shop');
  sharing(shop, seen(0.1));
  const moved = sharing(shop, seen(0.1, '192.0.2.9'));
  const kept = shop.healthy;
  expect(kept?.address).toBe('192.0.2.9');
  expect(moved).toEqual(seen(0.1, '192.0.2.9'));
  const again = sharing(shop, seen(0.2, '192.0.2.9'));
  expect(again).toEqual(seen(0.2, '192.0.2.9'));
  expect(shop.healthy).toBe(kept);
});

test('what is not up stays as it is, and is not remembered', () => {
  const sharing = createHealthyOutcomes();
  const shop = place('shop');
  const outcome = down();
  expect(sharing(shop, outcome)).toBe(outcome);
  expect(shop.healthy).toBeNull();
});
