import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Connectivity, createConnectivity } from '#monitor/suppress/connectivity.ts';
import { down, nodeInfo, unknown, up } from '../../../support/votes.ts';

const outcomes = { u: up, d: down, x: unknown };

function start(...targets: readonly string[]): Connectivity {
  const connectivity = createConnectivity();
  connectivity.targetsChanged(new Map(targets.map((name) => [name, name[0] ?? ''])), new Set());
  return connectivity;
}

/** Plays rounds such as `5 a:dd`: the second, the target and what the nodes see. Gives what changed, with its second. */
function play(connectivity: Connectivity, rounds: string) {
  return rounds.split(', ').flatMap((round) => {
    const [second = '', seen = ''] = round.split(' ');
    const [target = '', signs = ''] = seen.split(':');
    const votes = signs
      .split('')
      .map((sign, index) => ({ node: nodeInfo(`de${index + 1}`), outcome: outcomes[sign as keyof typeof outcomes]() }));
    const now = Number(second) * 1_000;
    const change = connectivity.observe({ target, host: '', dueAt: now, votes }, now);
    return change === null ? [] : [`${second} ${change.kind}`];
  });
}

test.each([
  {
    name: 'all that were up fail everywhere, one of them twice',
    targets: ['a', 'b'],
    rounds: '0 a:dd, 1 b:dd, 5 a:dd',
    is: ['5 lost'],
  },
  { name: 'once each is not enough', targets: ['a', 'b'], rounds: '0 a:dd, 9 b:dd', is: [] },
  { name: 'a second look at once is not enough', targets: ['a', 'b'], rounds: '0 a:dd, 1 b:dd, 2 a:dd', is: [] },
  {
    name: 'a sign of life of one node is enough',
    targets: ['a', 'b'],
    rounds: '0 a:dd, 1 b:du, 5 a:dd, 9 b:ud',
    is: [],
  },
  {
    name: 'one machine is no witness for another',
    targets: ['a1', 'a2'],
    rounds: '0 a1:d, 1 a2:d, 5 a1:d, 9 a2:d',
    is: [],
  },
  {
    name: 'one that was not looked at may be up',
    targets: ['a', 'b', 'c'],
    rounds: '0 a:dd, 1 b:dd, 5 a:dd, 9 b:dd',
    is: [],
  },
  {
    name: 'what failed before does not count, and is not missed',
    targets: ['a', 'b', 'c'],
    rounds: '0 c:dd, 1 a:uu, 10 a:dd, 11 b:dd, 16 a:dd',
    is: ['16 lost'],
  },
  {
    name: 'what failed before is no witness',
    targets: ['a', 'b'],
    rounds: '0 b:dd, 1 a:uu, 10 a:dd, 11 b:dd, 16 a:dd, 17 b:dd',
    is: [],
  },
  { name: 'nothing to say is not down', targets: ['a', 'b'], rounds: '0 a:xx, 1 b:xx, 60 a:xx, 61 b:xx', is: [] },
  {
    name: 'nothing to say for three minutes is told',
    targets: ['a', 'b'],
    rounds: '0 a:xx, 1 b:xx, 120 a:xx, 180 a:xx',
    is: ['180 lost'],
  },
  {
    name: 'nothing to say of a single target for three minutes',
    targets: ['a'],
    rounds: '0 a:x, 60 a:x, 120 a:x, 180 a:x',
    is: ['180 lost'],
  },
  { name: 'a single target that is down is down', targets: ['a'], rounds: '0 a:dd, 60 a:dd, 300 a:dd', is: [] },
  {
    name: 'it is back with two good results, of two targets',
    targets: ['a', 'b'],
    rounds: '0 a:d, 1 b:d, 5 a:d, 60 a:u, 61 b:u',
    is: ['5 lost', '61 back'],
  },
  {
    name: 'or of one target',
    targets: ['a', 'b'],
    rounds: '0 a:d, 1 b:d, 5 a:d, 60 a:u, 61 b:d, 63 a:u',
    is: ['5 lost', '63 back'],
  },
  {
    name: 'good results hours apart belong to different times',
    targets: ['a', 'b'],
    rounds: '0 a:d, 1 b:d, 5 a:d, 60 a:u, 7200 a:u, 7203 a:u',
    is: ['5 lost', '7203 back'],
  },
  {
    name: 'a single target is enough to be back',
    targets: ['a'],
    rounds: '0 a:x, 180 a:x, 240 a:u, 243 a:u',
    is: ['180 lost', '243 back'],
  },
])('$name ($rounds)', ({ targets, rounds, is }) => {
  expect(play(start(...targets), rounds)).toEqual(is);
});

test('all that were up have to fail; of very many, ten witnesses are enough after a minute', () => {
  const targets = Array.from({ length: 30 }, (_, index) => String.fromCodePoint(0x4e00 + index));
  const failing = (count: number) => targets.slice(0, count).map((name, index) => `${index} ${name}:d`);
  const again = (second: number) => `${second} ${targets[0]}:d`;
  expect(play(start(...targets), [...failing(29), again(40)].join(', '))).toEqual([]);
  expect(play(start(...targets), [...failing(30), again(40)].join(', '))).toEqual(['40 lost']);
  expect(play(start(...targets), [...failing(9), again(61)].join(', '))).toEqual([]);
  expect(play(start(...targets), [...failing(10), again(61)].join(', '))).toEqual(['61 lost']);
});

test('witnesses are those that were up last, more of them each time, one of each machine first', () => {
  const names = Array.from({ length: 100 }, (_, index) => `${String.fromCodePoint(0x4e00 + (index % 50))}${index}`);
  const connectivity = start('x', ...names);
  play(connectivity, names.map((name, index) => `${index} ${name}:u`).join(', '));
  expect(connectivity.witnesses()).toEqual([]);
  play(connectivity, '200 x:d');
  const [first, second, third] = [connectivity.witnesses(), connectivity.witnesses(), connectivity.witnesses()];
  expect(first).toEqual(names.toReversed().slice(0, 15));
  expect(second).toEqual(names.toReversed().slice(15, 75));
  expect(third).toEqual(names.toReversed().slice(75));
  expect(connectivity.witnesses()).toEqual(['x']);
});

test('a target that fails everywhere is in doubt until another one shows a sign of life, but not for ever', () => {
  const connectivity = start('a', 'b');
  expect(connectivity.doubtAbout('a', 0)).toBe('none');
  play(connectivity, '0 a:d');
  expect([connectivity.doubtAbout('a', 1_000), connectivity.doubtAbout('b', 1_000)]).toEqual(['unsure', 'none']);
  expect(connectivity.witnesses()).toEqual(['b', 'a']);
  expect(connectivity.doubtAbout('a', 120_000)).toBe('none');
  play(connectivity, '2 b:u');
  expect(connectivity.doubtAbout('a', 3_000)).toBe('none');
  expect(connectivity.witnesses()).toEqual([]);
});

test('a good result that arrives after the first failure, and was due before it, says nothing of it', () => {
  const connectivity = start('a', 'b', 'c');
  play(connectivity, '0 a:u, 0 b:u, 0 c:u');
  const seenUp = (target: string, dueAt: number, now: number) =>
    connectivity.observe({ target, host: '', dueAt, votes: [{ node: nodeInfo('de1'), outcome: up() }] }, now);
  play(connectivity, '10 a:d');
  expect(seenUp('b', 9_500, 10_300)).toBe(null);
  expect(connectivity.doubtAbout('a', 10_400)).toBe('unsure');
  play(connectivity, '11 b:d, 12 c:d, 14 a:d');
  expect(connectivity.isLost).toBe(true);
  expect([seenUp('b', 9_900, 14_100), seenUp('c', 9_900, 14_100)]).toEqual([null, null]);
  expect(connectivity.isLost).toBe(true);
});

/** Seconds at which a target in doubt stops to be so, by whole seconds. */
const trustedFrom = (connectivity: Connectivity, target: string, from: number) =>
  Array.from({ length: 200 }, (_, index) => from + index).find(
    (second) => connectivity.doubtAbout(target, second * 1_000) === 'none',
  );

test.each([
  { name: 'fifteen seconds', rounds: '10 a:u, 11 b:u', from: 26 },
  { name: 'the last target that comes back', rounds: '10 a:u, 11 b:u, 24 c:u', from: 39 },
  { name: 'targets that were not away change nothing', rounds: '10 a:u, 11 b:u, 20 a:u, 24 b:u', from: 26 },
  { name: 'one after the other', rounds: '10 a:u, 11 b:u, 24 c:u, 37 d:u', from: 52 },
  { name: 'one that comes after the end begins no other', rounds: '10 a:u, 11 b:u, 30 c:u', from: 26 },
  { name: 'a minute at most', rounds: '10 a:u, 11 b:u, 24 c:u, 37 d:u, 50 e:u, 63 f:u, 70 g:u', from: 71 },
])('routes come back in steps, which are waited for: $name', ({ rounds, from }) => {
  const connectivity = start('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h');
  const lost = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((name) => `0 ${name}:d`);
  play(connectivity, `${lost.join(', ')}, 5 a:d`);
  expect(connectivity.isLost).toBe(true);
  const steps = rounds.split(', ');
  play(connectivity, steps.join(', '));
  const last = Number(steps.at(-1)?.split(' ')[0]);
  expect(trustedFrom(connectivity, 'h', last)).toBe(Math.max(from, last));
});

test('a return before the clock was set back leaves no doubt', () => {
  const connectivity = start('a', 'b');
  play(connectivity, '3600 a:d, 3601 b:d, 3605 a:d, 3610 a:u, 3611 b:u');
  expect(connectivity.doubtAbout('a', 3_612_000)).toBe('returning');
  expect(connectivity.doubtAbout('a', 12_000)).toBe('none');
});

test('if the clock was set back, good results are those of now', () => {
  const connectivity = start('a', 'b');
  play(connectivity, '7200 a:d, 7201 b:d, 7205 a:d');
  expect(connectivity.isLost).toBe(true);
  play(connectivity, '3600 a:u, 3601 b:u');
  expect(connectivity.isLost).toBe(false);
});

test('connectivity that is being lost when the clock is set back is lost as soon as ever', () => {
  const connectivity = start('a', 'b');
  play(connectivity, '3600 a:d');
  connectivity.setBack(0);
  play(connectivity, '1 b:d, 5 a:d');
  expect(connectivity.isLost).toBe(true);
});

test('a single target is never in doubt', () => {
  const connectivity = start('a1', 'a2');
  play(connectivity, '0 a1:d, 1 a2:d');
  expect(connectivity.doubtAbout('a1', 1_000)).toBe('none');
});

test('targets that are gone are not waited for', () => {
  const connectivity = start('a', 'b', 'c');
  play(connectivity, '0 a:d, 1 b:d');
  connectivity.targetsChanged(
    new Map([
      ['a', 'a'],
      ['b', 'b'],
    ]),
    new Set(),
  );
  expect(play(connectivity, '5 a:d')).toEqual(['5 lost']);
});

test('what failed before the start is no witness', () => {
  const connectivity = createConnectivity();
  connectivity.targetsChanged(
    new Map([
      ['a', 'a'],
      ['b', 'b'],
    ]),
    new Set(['b']),
  );
  expect(play(connectivity, '0 a:d, 1 b:d, 5 a:d, 9 b:d')).toEqual([]);
});

test('it is lost and back by turns, never lost while something was just seen up', () => {
  const Round = fc.tuple(
    fc.integer({ min: 1, max: 60 }),
    fc.constantFrom('a', 'b', 'c'),
    fc.constantFrom('u', 'd', 'd', 'x'),
  );
  fc.assert(
    fc.property(fc.array(Round, { maxLength: 60 }), (rounds) => {
      let second = 0;
      const line = rounds.map(([gap, target, sign]) => `${(second += gap)} ${target}:${sign}`);
      const changes = line.length === 0 ? [] : play(start('a', 'b', 'c'), line.join(', '));
      expect(changes.map((change) => change.split(' ')[1])).toEqual(
        changes.map((_, index) => (index % 2 === 0 ? 'lost' : 'back')),
      );
      for (const change of changes.filter((one) => one.endsWith('lost'))) {
        expect(line.find((one) => one.startsWith(`${change.split(' ')[0]} `))).not.toMatch(/u$/);
      }
    }),
  );
});
