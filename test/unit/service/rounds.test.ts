import { array, assert, integer, property, record, shuffledSubarray } from 'fast-check';
import { expect, test } from 'vitest';
import type { Outcome } from '#checks/index.ts';
import type { NodeStatus } from '#service/ports.ts';
import { collectRounds } from '#service/rounds.ts';
import type { CollectedRound } from '#service/target-rounds.ts';
import { down, nodeInfo, up } from '../../support/votes.ts';

const second = 1_000;
const limitMs = 16 * second;
/** In rounds. */
const year = 525_600;
const late = { why: 'the monitor was away', notifyFrom: 0 };
// Its due times are the whole minutes and some seconds more.
const target = { name: 'shop', schedule: { kind: 'every', everyMs: 60 * second } } as const;
const names = ['de1', 'us1', 'jp1'] as const;
const infos = names.map((name) => nodeInfo(name));

function collect(over = 0, continuedUntil?: number) {
  const rounds: CollectedRound[] = [];
  let skipped = 0;
  const offline = new Map<string, string>();
  const shed = new Set<string>();
  let aheadFrom = Number.POSITIVE_INFINITY;
  const collected = collectRounds(
    {
      target,
      limitMs,
      sink: {
        hasVerdict: (votes) => votes.filter(({ outcome }) => outcome.status !== 'unknown').length >= 2,
        round: (round) => void rounds.push(round),
        skipped: (count) => void (skipped += count),
      },
      statusOf: (name): NodeStatus => ({
        info: nodeInfo(name),
        online: !offline.has(name),
        reason: offline.get(name) ?? null,
        capabilities: {},
        running: 0,
        queued: 0,
        lagSeconds: 0,
      }),
      isShed: (name) => shed.has(name),
      isAhead: (dueAt) => dueAt > aheadFrom,
    },
    { over, decided: over, ...(continuedUntil !== undefined && { continuedUntil }) },
  );
  collected.voters = infos;
  if (continuedUntil === undefined) for (const name of names) collected.keeps(name, over);
  const due = (number: number) => first + number * 60 * second;
  const first = collected.awaited;
  const vote = (node: number, number: number, outcome: Outcome = up()) => {
    const taken = collected.take(infos[node]!, due(number), outcome, due(number) + 5);
    collected.judge(due(number) + second, Number.POSITIVE_INFINITY);
    return taken;
  };
  const judge = (now: number) => collected.judge(now, Number.POSITIVE_INFINITY);
  const setBackTo = (now: number) => {
    collected.reset(now);
    aheadFrom = now + 1_800 * second;
  };
  return { collected, rounds, offline, shed, due, vote, judge, setBackTo, skipped: () => skipped };
}

const said = ({ votes }: CollectedRound) =>
  votes.map(({ node, outcome }) =>
    outcome.status === 'up' ? `${node.name} up` : `${node.name} ${outcome.status} ${outcome.failure.code}`,
  );

test('says when the next round may end although no vote comes: when it is due, then at its limit', () => {
  const { collected, vote, due, judge } = collect();
  expect(judge(due(0) - 1)).toBe(due(0));
  expect(judge(due(0))).toBe(due(0) + limitMs);
  vote(0, 0);
  expect(judge(due(0) + 2 * second)).toBe(due(0) + limitMs);
  // What came by then is not read yet.
  expect(collected.judge(due(0) + limitMs, Infinity, due(0) + limitMs - 1)).toBe(due(0) + limitMs);
  expect(judge(due(0) + limitMs)).toBe(due(1));
});

test('where another process may have assigned it, the next round may end at any moment', () => {
  const { collected, due, judge } = collect(0, 10 * 60 * second);
  expect(judge(due(0))).toBe(due(0));
  for (const name of names) collected.keeps(name, due(0) - 1);
  expect(due(1)).toBeLessThan(10 * 60 * second);
  expect(judge(due(0) + second)).toBe(due(0) + second);
});

test('a round is over as soon as all have voted, and tells when the first of them began', () => {
  const { rounds, vote, due } = collect();
  vote(0, 0);
  vote(2, 0, down());
  expect(rounds).toEqual([]);
  vote(1, 0);
  expect(rounds.map(said)).toEqual([['de1 up', 'us1 up', 'jp1 down refused']]);
  expect(rounds[0]).toMatchObject({ dueAt: due(0), startedAt: due(0) + 5 });
});

test('what is due while nodes take over from another process is open until their votes are here', () => {
  const { collected, rounds, vote, judge, due } = collect(0, 60 * second);
  judge(due(0) + second);
  // They go on with what they had, and say that they watch from now on.
  for (const name of names) collected.keeps(name, due(0) + second);
  judge(due(0) + limitMs - 1);
  expect(rounds).toEqual([]);
  expect([vote(0, 0), vote(1, 0), vote(2, 0)]).toEqual(['taken', 'taken', 'taken']);
  expect(rounds.map(said)).toEqual([['de1 up', 'us1 up', 'jp1 up']]);
});

test('a round from before nodes say that they watch, and that has no votes, is no fault of theirs', () => {
  const { collected, rounds, judge, due, skipped } = collect(0, 60 * second);
  for (const name of names) collected.keeps(name, due(0) + second);
  judge(due(0) + limitMs);
  expect(rounds).toEqual([]);
  expect(skipped()).toBe(0);
  expect(collected.awaited).toBe(due(1));
});

test('a node that has still no assignment after a while is not waited for', () => {
  const { collected, rounds, vote, judge, due } = collect(0, 60 * second);
  for (const name of names.slice(0, 2)) collected.keeps(name, due(0));
  judge(due(0) + limitMs);
  vote(0, 1);
  expect(rounds).toEqual([]);
  vote(1, 1);
  expect(rounds.map(said)).toEqual([['de1 up', 'us1 up', 'jp1 unknown gone']]);
});

test('a node that is away is not waited for, whatever it has kept', () => {
  const { rounds, offline, vote } = collect(0, 60 * second);
  offline.set('jp1', 'it has not reported for 15 s');
  vote(0, 0);
  expect(rounds).toEqual([]);
  vote(1, 0);
  expect(rounds.map(said)).toEqual([['de1 up', 'us1 up', 'jp1 unknown gone']]);
});

test('who does not vote until the limit is unknown by its own fault', () => {
  const { rounds, vote, judge, due } = collect();
  vote(0, 0);
  vote(1, 0);
  judge(due(0) + limitMs - 1);
  expect(rounds).toEqual([]);
  judge(due(0) + limitMs);
  expect(rounds.map(said)).toEqual([['de1 up', 'us1 up', 'jp1 unknown no_answer']]);
});

test('a round that is up is judged without the healthy results that an overloaded hub skipped', () => {
  const { rounds, vote, judge, due, shed, offline } = collect();
  shed.add('us1').add('jp1');
  vote(0, 0);
  judge(due(0) + limitMs);
  expect(rounds.map(said)).toEqual([['de1 up']]);
  // A node that is away may see it down, and so may others where one does.
  offline.set('jp1', 'the link is cut');
  vote(0, 1);
  judge(due(1) + limitMs);
  expect(rounds.map(said)[1]).toEqual(['de1 up', 'jp1 unknown gone']);
  offline.clear();
  vote(0, 2, down());
  judge(due(2) + limitMs);
  expect(rounds.map(said)[2]).toEqual([
    'de1 down refused',
    'us1 unknown service_limited',
    'jp1 unknown service_limited',
  ]);
});

test('a late round blames no node whose results an overloaded hub put off', () => {
  const { collected, rounds, vote, due, shed } = collect();
  shed.add('us1');
  vote(0, 0, down());
  void collected.endLate(due(0), late);
  expect(rounds.map(said)).toEqual([['de1 down refused', 'us1 unknown service_limited', 'jp1 unknown no_answer']]);
});

test('nobody waits for a node that is away; where all are, the round is of unknowns', () => {
  const { rounds, vote, judge, offline, due } = collect();
  offline.set('jp1', 'it has not reported for 15 s');
  vote(0, 0);
  vote(1, 0);
  expect(rounds.map(said)).toEqual([['de1 up', 'us1 up', 'jp1 unknown gone']]);
  for (const name of names) offline.set(name, 'the link is cut');
  judge(due(1));
  expect(rounds.map(said)[1]).toEqual(['de1 unknown gone', 'us1 unknown gone', 'jp1 unknown gone']);
});

test('a node that votes on the next round has passed over the one before: nobody waits for it any more', () => {
  const { rounds, vote, due } = collect();
  vote(0, 0);
  vote(1, 0);
  vote(2, 1);
  expect(rounds.map(said)).toEqual([['de1 up', 'us1 up', 'jp1 unknown busy']]);
  expect(rounds[0]?.dueAt).toBe(due(0));
});

test('a round that began nowhere is counted as skipped', () => {
  const { collected, rounds, judge, due, skipped } = collect();
  for (const info of infos) collected.take(info, due(3), up(), due(3));
  judge(due(3));
  expect(rounds).toHaveLength(1);
  expect(skipped()).toBe(3);
});

test('a node that watches since later is not waited for, and what nobody watched yet is no round', () => {
  const { collected, rounds, vote, judge, due, skipped } = collect();
  for (const name of names) {
    collected.keeps(name, null);
    collected.keeps(name, due(1));
  }
  judge(due(1) + 1);
  expect(rounds).toEqual([]);
  for (const node of [0, 1, 2]) vote(node, 2);
  expect(rounds.map(({ dueAt }) => dueAt)).toEqual([due(2)]);
  expect(skipped()).toBe(0);
});

test('a complete round waits for the one before it', () => {
  const { collected, rounds, judge, due } = collect();
  const take = (node: number, number: number) => collected.take(infos[node]!, due(number), up(), due(number));
  for (const [node, number] of [
    [0, 0],
    [1, 0],
    [0, 1],
    [1, 1],
  ] as const)
    take(node, number);
  judge(due(0) + second);
  expect(rounds).toEqual([]);
  take(2, 0);
  judge(due(0) + second);
  expect(rounds.map(({ dueAt }) => dueAt)).toEqual([due(0)]);
  take(2, 1);
  judge(due(1));
  expect(rounds.map(({ dueAt }) => dueAt)).toEqual([due(0), due(1)]);
});

test('a vote on a round that is over is late, and one that comes twice counts once', () => {
  const { rounds, vote, judge, due } = collect();
  expect(vote(0, 0)).toBe('taken');
  expect(vote(0, 0, down())).toBe('repeated');
  vote(2, 0);
  judge(due(0) + limitMs);
  expect(rounds.map(said)).toEqual([['de1 up', 'us1 unknown no_answer', 'jp1 up']]);
  expect(vote(1, 0)).toBe('late');
});

test('a round that ended without a verdict takes later votes, and ends again as a revision with all of them', () => {
  const { collected, rounds, vote, judge, due } = collect();
  vote(0, 0);
  judge(due(2) + limitMs);
  expect(collected.isUndecided).toBe(true);
  expect(vote(0, 0, down())).toBe('late');
  expect(vote(1, 0, down())).toBe('reopened');
  expect(vote(1, 0, down())).toBe('repeated');
  expect(vote(2, 1, down())).toBe('reopened');
  expect(collected.openUntil(due(2))).toEqual([due(0), due(1)]);
  rounds.length = 0;
  for (const dueAt of collected.openUntil(due(2))) void collected.endLate(dueAt, late);
  expect(rounds.map((round) => [round.dueAt, round.isRevision, ...said(round)])).toEqual([
    [due(0), true, 'de1 up', 'us1 down refused', 'jp1 unknown no_answer'],
    [due(1), true, 'de1 unknown no_answer', 'us1 unknown no_answer', 'jp1 down refused'],
  ]);
  expect(collected.decided).toBe(due(0));
  expect(vote(1, 1)).toBe('reopened');
  expect(vote(2, 0)).toBe('late');
});

test('once a later round has a verdict, or is abandoned, nothing reopens', () => {
  const { collected, vote, judge, due } = collect();
  judge(due(4) + limitMs);
  collected.abandon(due(1));
  expect(vote(0, 1)).toBe('late');
  expect(vote(0, 2)).toBe('reopened');
  for (const node of [0, 1, 2]) vote(node, 5);
  expect(collected.isUndecided).toBe(false);
  expect(collected.openUntil(due(5))).toEqual([]);
  expect(vote(1, 2)).toBe('late');
});

test('what this process slept through is skipped; what was under way has its time again', () => {
  const { collected, rounds, vote, judge, due, skipped } = collect();
  vote(0, 0);
  const now = due(9) + 30 * second;
  collected.extendDeadline(now, false);
  judge(now);
  expect(rounds).toEqual([]);
  for (const node of [0, 1, 2]) vote(node, 10);
  expect(rounds.map(({ dueAt }) => dueAt)).toEqual([due(0), due(10)]);
  expect(skipped()).toBe(9);
});

test.each([
  ['the next one has a vote', 0, false],
  ['a later one has a vote', 9 * year, false],
  ['a later one has a vote and others are on their way here', 9 * year, true],
])('years of rounds that nobody can have seen are passed over together, while %s', (_, open, isKept) => {
  const { collected, rounds, vote, judge, due, skipped } = collect();
  for (const node of [0, 1]) collected.take(infos[node]!, due(open), up(), due(open));
  collected.extendDeadline(due(10 * year), isKept);
  vote(2, open);
  for (const node of [0, 1, 2]) vote(node, 10 * year + 1);
  expect(rounds.map(({ dueAt }) => dueAt)).toEqual([due(open), due(10 * year + 1)]);
  expect(skipped()).toBe(10 * year);
  expect(judge(due(10 * year + 1) + second)).toBe(due(10 * year + 2));
});

test('who gave no vote while this process was held up is not blamed, unless it is away', () => {
  const { collected, rounds, offline, vote, judge, due } = collect();
  vote(0, 0);
  offline.set('jp1', 'the link is cut');
  collected.extendDeadline(due(0) + second, true);
  judge(due(0) + second + limitMs);
  expect(rounds.map(said)).toEqual([['de1 up', 'us1 unknown service_limited', 'jp1 unknown gone']]);
});

test('once a clock that was set forward is right again, missing votes are waited for no longer than ever', () => {
  const { collected, rounds, vote, judge, due } = collect();
  collected.extendDeadline(due(300), true);
  collected.reset(due(0) + second);
  vote(0, 1);
  judge(due(1) + limitMs);
  expect(rounds.map(said)).toEqual([['de1 up', 'us1 unknown no_answer', 'jp1 unknown no_answer']]);
});

test('after a hundred rounds at once, what lies here unread is waited for', () => {
  const { collected, rounds, judge, due, skipped } = collect();
  collected.extendDeadline(due(200), true);
  const read = (from: number, to: number) => {
    for (let number = from; number < to; number += 1)
      for (const info of infos) collected.take(info, due(number), up(), due(number));
    return judge(due(200) + second);
  };
  expect(read(0, 150)).toBe(due(200) + limitMs);
  read(150, 200);
  expect([rounds.length, skipped()]).toEqual([200, 0]);
});

test('after the clock was set back rounds go on, under names of their own', () => {
  const { collected, rounds, judge, due } = collect();
  for (const info of infos) collected.take(info, due(60), up(), due(60));
  judge(due(60));
  collected.reset(due(0) + 1);
  for (const info of infos) collected.take(info, due(1) + 1, up(), due(1) + 1);
  judge(due(1) + second);
  expect(rounds.at(-1)?.dueAt).toBe(due(1) + 1);
});

test('what was under way when the clock was set back has no node pass over what is due from then on', () => {
  const { collected, rounds, judge, due, setBackTo } = collect();
  for (const info of infos) collected.take(info, due(60), up(), due(60));
  judge(due(60));
  setBackTo(due(0) + 1);
  expect(collected.take(infos[1]!, due(61), up(), due(61))).toBe('uncalled');
  collected.passOver('jp1', due(61));
  collected.take(infos[0]!, due(1), down(), due(1));
  judge(due(1) + second);
  expect(rounds).toHaveLength(1);
  for (const node of [1, 2]) collected.take(infos[node]!, due(1), down(), due(1));
  judge(due(1) + 2 * second);
  expect(rounds.map(said)[1]).toEqual(['de1 down refused', 'us1 down refused', 'jp1 down refused']);
});

test('rounds that are long over end with the votes that came, in order, and say why they are late', () => {
  const { collected, rounds, due } = collect();
  const outcomes: readonly Outcome[] = [up(), down(), up()];
  for (const [number, outcome] of outcomes.entries())
    for (const node of [1, 0]) collected.take(infos[node]!, due(number), outcome, due(number));
  const pending = collected.openUntil(due(5)).toSorted((a, b) => a - b);
  for (const dueAt of pending) void collected.endLate(dueAt, late);
  expect(rounds.map((round) => [round.dueAt, round.late])).toEqual([0, 1, 2].map((number) => [due(number), late]));
  expect(rounds.map(said)[1]).toEqual(['de1 down refused', 'us1 down refused', 'jp1 unknown no_answer']);
});

test('whatever the order in which votes arrive, and however often, the rounds are the same', () => {
  const rounds = 4;
  const all = Array.from({ length: rounds }, (_, number) => [0, 1, 2].map((node) => ({ node, number }))).flat();
  const play = (arrivals: readonly { node: number; number: number }[]) => {
    const { collected, rounds: ended, due } = collect();
    for (const { node, number } of arrivals) {
      const outcome = (node + number) % 3 === 0 ? down() : up();
      collected.take(infos[node]!, due(number), outcome, due(number) + node);
    }
    for (const dueAt of collected.openUntil(due(rounds)).toSorted((a, b) => a - b)) void collected.endLate(dueAt, late);
    return ended;
  };
  const inTime = play(all);
  expect(inTime).toHaveLength(rounds);
  assert(
    property(
      shuffledSubarray(all, { minLength: all.length }),
      array(record({ node: integer({ min: 0, max: 2 }), number: integer({ min: 0, max: rounds - 1 }) })),
      (shuffled, repeats) => {
        expect(play([...shuffled, ...repeats])).toEqual(inTime);
      },
    ),
    { numRuns: 100 },
  );
});

test('a node that passes over a round is not waited for, and is busy', () => {
  const { collected, rounds, due, vote } = collect();
  collected.passOver('jp1', due(0));
  vote(0, 0);
  vote(1, 0);
  expect(rounds.map(said)).toEqual([['de1 up', 'us1 up', 'jp1 unknown busy']]);
});

test('a round that all nodes pass over is skipped', () => {
  const { collected, rounds, due, judge, skipped } = collect();
  for (const name of names) collected.passOver(name, due(0));
  judge(due(0) + second);
  expect([rounds, skipped()]).toEqual([[], 1]);
});

test('a round is left out only if it is the next one and has no vote', () => {
  const { collected, due, vote, skipped } = collect();
  vote(0, 0);
  expect(collected.leaveOut(due(0))).toBe(false);
  expect(skipped()).toBe(0);
  vote(1, 0);
  vote(2, 0);
  expect(collected.leaveOut(due(2))).toBe(false);
  expect(collected.leaveOut(due(1))).toBe(true);
  expect([skipped(), collected.awaited]).toEqual([1, due(2)]);
});
