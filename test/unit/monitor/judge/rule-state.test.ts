import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { incidentIdOf, newRuleState, type RuleState, step, type Transition } from '#monitor/judge/rule-state.ts';
import { defaultRules, Rule } from '#monitor/judge/rule.ts';
import { tally, type Verdict } from '#monitor/judge/verdict.ts';
import { down, unknown, up, votes } from '../../../support/votes.ts';

// F: failing, G: good, N: no verdict. Rounds are due every second from 1,000 on.
const verdicts = {
  F: tally(votes(down()), { kind: 'majority' }),
  G: tally(votes(up()), { kind: 'majority' }),
  N: tally(votes(unknown()), { kind: 'majority' }),
} satisfies Record<string, Verdict>;
type Sign = keyof typeof verdicts;
interface Round {
  readonly sign: Sign;
  readonly at: number;
}

const rounds = (signs: string): readonly Round[] =>
  signs.split('').map((sign, index) => ({ sign: sign as Sign, at: (index + 1) * 1_000 }));

interface Folded {
  readonly state: RuleState;
  readonly transitions: readonly (Transition & { readonly at: number })[];
  readonly reasons: readonly string[];
}

function fold(rule: Rule, seen: readonly Round[], from = newRuleState('shop', 'down')): Folded {
  let state = from;
  const transitions: (Transition & { at: number })[] = [];
  const reasons: string[] = [];
  for (const { sign, at } of seen) {
    const next = step(rule, state, verdicts[sign], at);
    if (next.transition !== null) transitions.push({ ...next.transition, at });
    reasons.push(next.reason);
    state = next.state;
  }
  return { state, transitions, reasons };
}

const ruleOf = (rounds: number | string, recover = 2) => Rule.parse({ rounds, recover });
const opened = (startedAt: number, at: number) => ({ kind: 'open', startedAt, at });
const closed = (endedAt: number, at: number) => ({ kind: 'close', endedAt, at });

test.each([
  {
    name: 'opens on the second failing round in a row, back-dated to the first',
    rule: ruleOf(2),
    seen: 'FF',
    is: [opened(1_000, 2_000)],
  },
  { name: 'does not open on one failing round', rule: ruleOf(2), seen: 'GFG', is: [] },
  { name: 'does not open on failing rounds with a good one between', rule: ruleOf(2), seen: 'FGFGF', is: [] },
  { name: 'opens on the very first round where one is enough', rule: ruleOf(1), seen: 'F', is: [opened(1_000, 1_000)] },
  { name: 'opens over a round without a verdict', rule: ruleOf(2), seen: 'FNNF', is: [opened(1_000, 4_000)] },
  {
    name: 'closes on the second good round in a row, back-dated to the first',
    rule: ruleOf(2),
    seen: 'FFGG',
    is: [opened(1_000, 2_000), closed(3_000, 4_000)],
  },
  { name: 'stays open over one good round', rule: ruleOf(2), seen: 'FFGFGF', is: [opened(1_000, 2_000)] },
  {
    name: 'closes over a round without a verdict',
    rule: ruleOf(2),
    seen: 'FFGNG',
    is: [opened(1_000, 2_000), closed(3_000, 5_000)],
  },
  {
    name: 'counts the good rounds anew after a failing one',
    rule: ruleOf(2),
    seen: 'FFGFGG',
    is: [opened(1_000, 2_000), closed(5_000, 6_000)],
  },
  {
    name: 'closes on one good round where one is enough',
    rule: ruleOf(2, 1),
    seen: 'FFG',
    is: [opened(1_000, 2_000), closed(3_000, 3_000)],
  },
  {
    name: 'opens again after it closed, by new failing rounds alone',
    rule: ruleOf(2, 1),
    seen: 'FFGFF',
    is: [opened(1_000, 2_000), closed(3_000, 3_000), opened(4_000, 5_000)],
  },
  { name: 'opens on two of three', rule: ruleOf('2 of 3'), seen: 'FGF', is: [opened(1_000, 3_000)] },
  { name: 'does not open on two of four where three count', rule: ruleOf('2 of 3'), seen: 'FGGF', is: [] },
  {
    name: 'back-dates to the first failing round that still counts',
    rule: ruleOf('2 of 3'),
    seen: 'FGGFF',
    is: [opened(4_000, 5_000)],
  },
  { name: 'counts only rounds with a verdict', rule: ruleOf('2 of 3'), seen: 'FNNNGNF', is: [opened(1_000, 7_000)] },
  {
    name: 'opens on three of five that are scattered',
    rule: ruleOf('3 of 5'),
    seen: 'GFGFGF',
    is: [opened(2_000, 6_000)],
  },
])('$name ($seen)', ({ rule, seen, is }) => {
  expect(fold(rule, rounds(seen)).transitions).toMatchObject(is);
  expect(fold(rule, rounds(seen)).transitions).toHaveLength(is.length);
});

test('each round has its reason', () => {
  expect(fold(ruleOf('2 of 3'), rounds('GFGNFFGFGG')).reasons).toEqual([
    'good',
    'failing',
    'good',
    'no_verdict',
    'opened',
    'still_failing',
    'recovering',
    'still_failing',
    'recovering',
    'closed',
  ]);
});

test('the incident is named after the round that opened it', () => {
  expect(fold(ruleOf(2), rounds('FF')).state.incidentId).toBe(incidentIdOf('shop', 'down', 2_000));
  expect(incidentIdOf('shop', 'down', 2_000)).toBe('shop/down/2000');
});

test('a closed incident leaves nothing behind', () => {
  expect(fold(ruleOf(2), rounds('FFGG')).state).toEqual(newRuleState('shop', 'down'));
});

test('a good round opens nothing, even where a reload made fewer failing rounds enough', () => {
  const before = fold(ruleOf('3 of 5'), rounds('FF')).state;
  expect(step(ruleOf('2 of 5'), before, verdicts.G, 3_000).transition).toBeNull();
  expect(step(ruleOf('2 of 5'), before, verdicts.F, 3_000).transition).toMatchObject({
    kind: 'open',
    startedAt: 1_000,
  });
});

test('a reload that makes fewer good rounds enough closes with the next one', () => {
  const before = fold(ruleOf(2, 5), rounds('FFGGG')).state;
  expect(step(ruleOf(2, 2), before, verdicts.G, 6_000).transition).toEqual({ kind: 'close', endedAt: 3_000 });
});

const Rounds = fc
  .integer({ min: 1, max: 4 })
  .chain((bad) => fc.integer({ min: bad, max: 6 }).map((of) => `${bad} of ${of}`));
const AnyRule = fc.tuple(Rounds, fc.integer({ min: 1, max: 4 })).map(([written, recover]) => ruleOf(written, recover));
const Seen = fc
  .array(fc.constantFrom<Sign>('F', 'F', 'G', 'G', 'N'), { maxLength: 40 })
  .map((signs) => rounds(signs.join('')));

test('transitions alternate, beginning with an open one', () => {
  fc.assert(
    fc.property(AnyRule, Seen, (rule, seen) => {
      const { transitions, state } = fold(rule, seen);
      expect(transitions.map(({ kind }) => kind)).toEqual(
        transitions.map((_, index) => (index % 2 === 0 ? 'open' : 'close')),
      );
      expect(state.incidentId !== null).toBe(transitions.length % 2 === 1);
    }),
  );
});

test('no incident opens without its failing rounds, and none closes without its good rounds in a row', () => {
  fc.assert(
    fc.property(AnyRule, Seen, (rule, seen) => {
      const counted = seen.filter(({ sign }) => sign !== 'N');
      for (const transition of fold(rule, seen).transitions) {
        const end = counted.findIndex(({ at }) => at === transition.at) + 1;
        if (transition.kind === 'open') {
          const failing = counted.slice(Math.max(0, end - rule.rounds.of), end).filter(({ sign }) => sign === 'F');
          expect(failing.length).toBeGreaterThanOrEqual(rule.rounds.bad);
          expect(failing.map(({ at }) => at)).toContain(transition.startedAt);
        } else {
          const good = counted.slice(end - rule.recover, end);
          expect(good.map(({ sign }) => sign)).toEqual(Array(rule.recover).fill('G'));
          expect(good[0]?.at).toBe(transition.endedAt);
        }
      }
    }),
  );
});

test('an incident opens as soon as its rounds are complete, never later', () => {
  fc.assert(
    fc.property(AnyRule, fc.array(fc.constantFrom<Sign>('F', 'G'), { maxLength: 30 }), (rule, signs) => {
      const seen = rounds(signs.join(''));
      const complete = seen.find(({ sign }, index) => {
        const last = seen.slice(Math.max(0, index + 1 - rule.rounds.of), index + 1);
        return sign === 'F' && last.filter((round) => round.sign === 'F').length >= rule.rounds.bad;
      });
      expect(fold(rule, seen).transitions[0]?.at).toBe(complete?.at);
    }),
  );
});

test('folding the rounds in two halves, the state stored between, equals folding them whole', () => {
  fc.assert(
    fc.property(AnyRule, Seen, fc.nat(40), (rule, seen, cut) => {
      const first = fold(rule, seen.slice(0, cut));
      const stored = JSON.parse(JSON.stringify(first.state)) as RuleState;
      const second = fold(rule, seen.slice(cut), stored);
      const whole = fold(rule, seen);
      expect(second.state).toEqual(whole.state);
      expect([...first.transitions, ...second.transitions]).toEqual(whole.transitions);
    }),
  );
});

test('rounds without a verdict change nothing: not the state, not the transitions', () => {
  fc.assert(
    fc.property(AnyRule, Seen, (rule, seen) => {
      const counted = fold(
        rule,
        seen.filter(({ sign }) => sign !== 'N'),
      );
      const whole = fold(rule, seen);
      expect(whole.state).toEqual(counted.state);
      expect(whole.transitions).toEqual(counted.transitions);
      expect(step(rule, whole.state, verdicts.N, 100_000).state).toBe(whole.state);
    }),
  );
});

test('what is remembered stays bounded, and starts with a failing round', () => {
  fc.assert(
    fc.property(AnyRule, Seen, (rule, seen) => {
      const { window, incidentId } = fold(rule, seen).state;
      expect(window.length).toBeLessThan(Math.max(rule.rounds.of, 1) + 1);
      if (window.length > 0) expect(window[0]?.failing).toBe(true);
      if (incidentId !== null) expect(window).toEqual([]);
    }),
  );
});

test('in a steady state, good or failing, the state stays the same object', () => {
  fc.assert(
    fc.property(AnyRule, Seen, (rule, seen) => {
      for (const sign of ['F', 'G'] as const) {
        const settled = fold(
          rule,
          Array.from({ length: 10 }, (_, index) => ({ sign, at: 100_000 + 1_000 * index })),
          fold(rule, seen).state,
        );
        expect(step(rule, settled.state, verdicts[sign], 200_000).state).toBe(settled.state);
      }
    }),
  );
});

test('two rounds that were due at one moment count once, failing or good', () => {
  const first = fold(ruleOf(2), [
    { sign: 'F', at: 1_000 },
    { sign: 'F', at: 1_000 },
    { sign: 'F', at: 1_001 },
  ]);
  expect(first.transitions).toEqual([]);
  expect(first.reasons).toEqual(['failing', 'same_moment', 'same_moment']);
  const open = fold(ruleOf(2), [{ sign: 'F', at: 2_000 }], first.state);
  expect(open.transitions).toMatchObject([{ kind: 'open', startedAt: 1_000, failedAt: [1_000, 2_000] }]);
  const good = fold(
    ruleOf(2),
    [
      { sign: 'G', at: 3_000 },
      { sign: 'G', at: 3_001 },
    ],
    open.state,
  );
  expect(good.transitions).toEqual([]);
  expect(fold(ruleOf(2), [{ sign: 'G', at: 4_000 }], good.state).transitions).toMatchObject([{ kind: 'close' }]);
});

test('the rule that is there unasked opens on two failing rounds in a row', () => {
  expect(Rule.parse(defaultRules.down)).toEqual({
    kind: 'failing',
    options: { kind: 'majority' },
    threshold: { kind: 'majority' },
    rounds: { bad: 2, of: 2 },
    recover: 2,
    confirm: true,
    severity: 'critical',
    leftOut: ['rounds', 'recover'],
  });
});

test.each([
  [2, { bad: 2, of: 2 }, 2],
  ['2 of 3', { bad: 2, of: 3 }, '2 of 3'],
  ['3 of 3', { bad: 3, of: 3 }, 3],
])('the rounds %s are read and written', (written, meant, shortest) => {
  const rule = Rule.parse({ rounds: written });
  expect(rule.rounds).toEqual(meant);
  expect(Rule.encode(rule).rounds).toBe(shortest);
});

test.each([
  ['3 of 2', '3 of 2 can never happen'],
  ['0 of 2', 'expected a number of rounds in a row such as 2, or "2 of 3"'],
  [0, 'expected a number of rounds in a row such as 2, or "2 of 3"'],
  [100, 'expected a number of rounds in a row such as 2, or "2 of 3"'],
])('the rounds %s are refused', (written, message) => {
  expect(Rule.safeParse({ rounds: written }).error?.issues[0]?.message).toBe(message);
});

test('what a rule noted about nodes outlives the incident', () => {
  const noted = { de1: 'A 192.0.2.1' };
  const open = fold(ruleOf(2), rounds('FF'), { ...newRuleState('shop', 'changed'), noted }).state;
  const closed = fold(
    ruleOf(2),
    [
      { sign: 'G', at: 3_000 },
      { sign: 'G', at: 4_000 },
    ],
    open,
  );
  expect(closed.transitions).toMatchObject([{ kind: 'close' }]);
  expect(closed.state).toEqual({ ...newRuleState('shop', 'changed'), noted });
});
