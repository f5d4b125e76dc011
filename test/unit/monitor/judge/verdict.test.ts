import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { tally, tallyStatuses, Threshold, type Verdict } from '#monitor/judge/verdict.ts';
import { down, unknown, up, votes } from '../../../support/votes.ts';

// u: up, d: down, x: unknown.
const outcomes = { u: up, d: down, x: unknown };
type Sign = keyof typeof outcomes;
const cast = (signs: string) => votes(...signs.split('').map((sign) => outcomes[sign as Sign]()));

const any: Threshold = { kind: 'any' };
const majority: Threshold = { kind: 'majority' };
const all: Threshold = { kind: 'all' };
const nodes = (count: number): Threshold => ({ kind: 'count', count });
const share = (share: number): Threshold => ({ kind: 'share', share });

interface Row {
  readonly name: string;
  readonly votes: string;
  readonly threshold: Threshold;
  readonly quorum?: number;
  readonly is: readonly [Verdict['status'], Verdict['reason'], Verdict['failing']];
}

test.each<Row>([
  { name: 'all up is up', votes: 'uuu', threshold: majority, is: ['up', 'all_up', false] },
  { name: 'one node alone is enough to be up', votes: 'u', threshold: majority, is: ['up', 'all_up', false] },
  { name: 'one node alone is enough to be down', votes: 'd', threshold: majority, is: ['down', 'threshold_met', true] },
  { name: 'two of three are a majority', votes: 'ddu', threshold: majority, is: ['down', 'threshold_met', true] },
  { name: 'one of three is no majority', votes: 'duu', threshold: majority, is: ['partial', 'below_threshold', false] },
  { name: 'an even split keeps the state', votes: 'du', threshold: majority, is: ['partial', 'tie', null] },
  {
    name: 'an even split of the counted votes keeps the state',
    votes: 'ddxuu',
    threshold: majority,
    is: ['partial', 'tie', null],
  },
  {
    name: 'unknown votes do not count against a majority',
    votes: 'ddux',
    threshold: majority,
    is: ['down', 'threshold_met', true],
  },
  { name: 'one is any', votes: 'duuu', threshold: any, is: ['down', 'threshold_met', true] },
  { name: 'all but one are not all', votes: 'dddu', threshold: all, is: ['partial', 'below_threshold', false] },
  { name: 'all that had an answer are all', votes: 'ddx', threshold: all, is: ['down', 'threshold_met', true] },
  { name: 'three of three nodes asked for', votes: 'dddu', threshold: nodes(3), is: ['down', 'threshold_met', true] },
  {
    name: 'two where three are asked for',
    votes: 'dduu',
    threshold: nodes(3),
    is: ['partial', 'below_threshold', false],
  },
  {
    name: 'a number that the missing votes could reach keeps the state',
    votes: 'dddxx',
    threshold: nodes(4),
    is: ['partial', 'no_quorum', null],
  },
  {
    name: 'a number that the missing votes could not reach is good',
    votes: 'dduux',
    threshold: nodes(4),
    is: ['partial', 'below_threshold', false],
  },
  { name: 'half of four', votes: 'dduu', threshold: share(0.5), is: ['down', 'threshold_met', true] },
  { name: 'half of three is two', votes: 'duu', threshold: share(0.5), is: ['partial', 'below_threshold', false] },
  { name: 'a tenth of three is one', votes: 'duu', threshold: share(0.1), is: ['down', 'threshold_met', true] },
  {
    name: '70 % of ten are seven whatever the floating point says',
    votes: 'ddddddduuu',
    threshold: share(0.7),
    is: ['down', 'threshold_met', true],
  },
  { name: 'no votes are no verdict', votes: '', threshold: any, is: ['unknown', 'no_votes', null] },
  { name: 'only unknown votes are no verdict', votes: 'xxx', threshold: any, is: ['unknown', 'no_votes', null] },
  {
    name: 'fewer than half of the nodes are no quorum',
    votes: 'dxx',
    threshold: any,
    is: ['unknown', 'no_quorum', null],
  },
  { name: 'half of the nodes are a quorum', votes: 'uuxx', threshold: any, is: ['up', 'all_up', false] },
  {
    name: 'a quorum of one is reached by one',
    votes: 'dxx',
    threshold: any,
    quorum: 1,
    is: ['down', 'threshold_met', true],
  },
  {
    name: 'a quorum of three is not reached by two',
    votes: 'ddxx',
    threshold: any,
    quorum: 3,
    is: ['unknown', 'no_quorum', null],
  },
  {
    name: 'a quorum above the nodes asked needs all of them',
    votes: 'dd',
    threshold: any,
    quorum: 5,
    is: ['down', 'threshold_met', true],
  },
])('$name ($votes)', ({ votes: signs, threshold, quorum, is: [status, reason, failing] }) => {
  expect(tally(cast(signs), threshold, quorum)).toMatchObject({ status, reason, failing });
});

const Signs = fc.array(fc.constantFrom<Sign>('u', 'd', 'x'), { maxLength: 12 }).map((signs) => signs.join(''));
const AnyThreshold: fc.Arbitrary<Threshold> = fc.oneof(
  fc.constantFrom(any, majority, all),
  fc.integer({ min: 1, max: 12 }).map(nodes),
  fc.integer({ min: 1, max: 100 }).map((percent) => share(percent / 100)),
);

test('every vote is counted once, and the order of the votes is of no account', () => {
  fc.assert(
    fc.property(Signs, AnyThreshold, (signs, threshold) => {
      const verdict = tally(cast(signs), threshold);
      expect(verdict.up + verdict.down + verdict.unknown).toBe(signs.length);
      expect(tally(cast(signs.split('').toReversed().join('')), threshold)).toEqual(verdict);
    }),
  );
});

test('a verdict is failing where it is down, good where it is up, and nothing where it is unknown', () => {
  fc.assert(
    fc.property(Signs, AnyThreshold, (signs, threshold) => {
      const { status, failing } = tally(cast(signs), threshold);
      if (status === 'partial') expect(failing).not.toBe(true);
      else expect(failing).toBe({ up: false, down: true, unknown: null }[status]);
    }),
  );
});

test('one more node that is up never makes a target fail, one more that is down never makes it good', () => {
  fc.assert(
    fc.property(Signs, AnyThreshold, (signs, threshold) => {
      const before = tally(cast(signs), threshold, 1).failing;
      if (before === false) expect(tally(cast(`${signs}u`), threshold, 1).failing).toBe(false);
      if (before === true) expect(tally(cast(`${signs}d`), threshold, 1).failing).toBe(true);
    }),
  );
});

test('where every node that had an answer sees it down, the round is never good as long as enough were asked', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 8 }),
      fc.integer({ min: 0, max: 8 }),
      AnyThreshold,
      (downs, unknowns, threshold) => {
        fc.pre(threshold.kind !== 'count' || threshold.count <= downs + unknowns);
        expect(tally(cast('d'.repeat(downs) + 'x'.repeat(unknowns)), threshold).failing).not.toBe(false);
      },
    ),
  );
});

test.each([
  ['any', any],
  ['majority', majority],
  ['all', all],
  [3, nodes(3)],
  ['50%', share(0.5)],
  ['100%', share(1)],
])('the threshold %s is read and written', (written, threshold) => {
  expect(Threshold.decode(written)).toEqual(threshold);
  expect(Threshold.encode(threshold)).toBe(written);
});

test.each(['most', 0, -1, 1.5, '0%', '101%', '50', null])(
  'the threshold %s is refused with what is expected',
  (written) => {
    expect(Threshold.safeParse(written).error?.issues[0]?.message).toMatch(
      /^expected "any", "majority", "all", a number/,
    );
  },
);

test('suspected nodes do not hold up the quorum: half of those that count is enough', () => {
  const statuses = ['down', 'unknown', 'unknown', 'unknown'] as const;
  expect(tallyStatuses(statuses, { kind: 'majority' }, undefined, 2)).toMatchObject({ status: 'down', failing: true });
  expect(tallyStatuses(statuses, { kind: 'majority' })).toMatchObject({ status: 'unknown', reason: 'no_quorum' });
});
