import { expect, test } from 'vitest';
import { hasVerdict, statusByVotes } from '#monitor/judge/round-verdict.ts';
import { target } from '../../../support/scenario.ts';
import { down, nodeInfo, unknown, up } from '../../../support/votes.ts';

const shop = target('shop');
const nobody = new Set<string>();
const outcomes = { u: up(), d: down(), x: unknown() };
const votesOf = (signs: string) =>
  Array.from(signs, (sign, index) => ({
    node: nodeInfo(`zz${index + 1}`),
    outcome: sign === 'u' ? outcomes.u : sign === 'd' ? outcomes.d : outcomes.x,
  }));

test.each([
  { signs: 'uxx', is: false },
  { signs: 'uux', is: true },
  { signs: 'udx', is: false },
  { signs: 'udd', is: true },
  { signs: 'xxx', is: false },
])('votes $signs are enough for a verdict: $is', ({ signs, is }) => {
  expect(hasVerdict(shop, votesOf(signs), nobody)).toBe(is);
});

test('votes of suspected nodes are no votes', () => {
  expect(hasVerdict(shop, votesOf('ddx'), new Set(['zz1', 'zz2']))).toBe(false);
  expect(hasVerdict(shop, votesOf('ddu'), new Set(['zz1', 'zz2']))).toBe(true);
});

test.each([
  { statuses: ['down'], nodes: 3, status: null },
  { statuses: ['down', 'up'], nodes: 3, status: null },
  { statuses: ['down', 'up', 'up'], nodes: 3, status: 'partial' },
  { statuses: ['down', 'down'], nodes: 3, status: 'down' },
  { statuses: ['up'], nodes: 1, status: 'up' },
] as const)(
  'one late vote of $nodes nodes does not decide alone: $statuses is $status',
  ({ statuses, nodes, status }) => {
    expect(statusByVotes(shop, statuses, nodes)).toBe(status);
    const named = { ...shop, nodes: { kind: 'named' as const, names: ['zz1', 'zz2', 'zz3'].slice(0, nodes) } };
    expect(statusByVotes(named, statuses, 9)).toBe(status);
  },
);
