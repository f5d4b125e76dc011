import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createQuarantine, type TrustChange } from '#monitor/suppress/quarantine.ts';
import { down, nodeInfo, unknown, up } from '../../../support/votes.ts';

const outcomes = { u: up, d: down, x: unknown };
const names = ['de1', 'us1', 'jp1', 'fr1'];

/** Rounds such as `a:udu`: the target and what each node sees; a target's host is its first letter. */
function play(rounds: string, quarantine = createQuarantine()) {
  const changes: (readonly [number, TrustChange['kind'], string])[] = [];
  for (const [index, round] of rounds.split(' ').entries()) {
    const [target = '', signs = ''] = round.split(':');
    const votes = signs
      .split('')
      .map((sign, node) => ({ node: nodeInfo(names[node]!), outcome: outcomes[sign as keyof typeof outcomes]() }));
    for (const { kind, node } of quarantine.observe({ target, host: target[0] ?? '', dueAt: index, votes }))
      changes.push([index, kind, node.name]);
  }
  return { changes, suspected: [...quarantine.suspected] };
}

test.each([
  {
    name: 'a node that fails alone on its three targets is suspected',
    rounds: 'a:udu b:udu c:udu',
    suspected: ['us1'],
  },
  { name: 'two targets are too few', rounds: 'a:udu b:udu a:udu b:udu', suspected: [] },
  { name: 'three checks of one machine are too few', rounds: 'a1:udu a2:udu a3:udu', suspected: [] },
  { name: 'all its targets have to fail', rounds: 'a:uuu b:uuu c:uuu d:uuu a:udu b:udu c:udu', suspected: [] },
  {
    name: 'one that it sees up in between is enough to be believed',
    rounds: 'a:udu b:udu d:uuu c:udu a:udu',
    suspected: [],
  },
  { name: 'a target that others see down as well says nothing', rounds: 'a:udu b:udu c:ddd c:ddd', suspected: [] },
  {
    name: 'what another node sees down as well since does not count any more',
    rounds: 'a:udu b:udu a:udd b:udd c:udu d:udu',
    suspected: [],
  },
  {
    name: 'the silence of the others takes nothing back',
    rounds: 'a:udu b:udu a:xdx b:xdx c:udu',
    suspected: ['us1'],
  },
  { name: 'its silence says nothing', rounds: 'a:uxu b:uxu c:uxu', suspected: [] },
  { name: 'a tie among the others says nothing', rounds: 'a:udd b:udd c:udd', suspected: [] },
  { name: 'of two nodes the one that sees down is suspected', rounds: 'a:ud b:ud c:ud', suspected: ['us1'] },
  { name: 'a node alone is never suspected', rounds: 'a:d b:d c:d d:d', suspected: [] },
  {
    name: 'two nodes of four that fail together are both suspected, for three see up at first',
    rounds: 'a:uduu b:uduu c:uduu a:udud b:udud c:udud',
    suspected: ['us1', 'fr1'],
  },
])('$name ($rounds)', ({ rounds, suspected }) => {
  expect(play(rounds).suspected).toEqual(suspected);
});

test('a target that is watched no more is none of its targets, however often it voted on it', () => {
  const quarantine = createQuarantine();
  play('a:uuu b:uuu c:uuu d:uuu e:uuu d:uuu e:uuu a:udu b:udu c:udu', quarantine);
  quarantine.forget('d');
  quarantine.forget('never seen');
  expect(play('a:udu', quarantine).suspected).toEqual([]);
  quarantine.forget('e');
  expect(play('a:udu', quarantine).suspected).toEqual(['us1']);
});

test('a target that comes back is one of its targets again', () => {
  const quarantine = createQuarantine();
  play('a:udu b:udu d:uuu', quarantine);
  quarantine.forget('d');
  expect(play('d:uuu a:udu b:udu c:udu', quarantine).suspected).toEqual([]);
});

test('ten targets in a row are enough, however many there are', () => {
  const hosts = Array.from({ length: 40 }, (_, index) => String.fromCodePoint(0x4e00 + index));
  const good = hosts.map((host) => `${host}:uuu`);
  const bad = hosts.slice(0, 10).map((host) => `${host}:udu`);
  expect(play([...good, ...bad.slice(0, 9)].join(' ')).suspected).toEqual([]);
  expect(play([...good, ...bad].join(' ')).suspected).toEqual(['us1']);
});

test('a suspected node is trusted again after three targets in agreement, and not before', () => {
  const { changes } = play('a:udu b:udu c:udu a:uuu b:udu a:uuu b:uuu c:uuu a:uuu');
  expect(changes).toEqual([
    [2, 'suspected', 'us1'],
    [7, 'trusted', 'us1'],
  ]);
});

test('the vote of a suspected node does not make another one look alone', () => {
  expect(play('a:udu b:udu c:udu a:dux b:dux c:dux').suspected).toEqual(['us1']);
});

test('nor does it stand by another one that fails alone', () => {
  expect(play('a:udu b:udu c:udu a:udd b:udd c:udd').suspected).toEqual(['us1', 'jp1']);
});

test('a node is suspected and trusted by turns, and only nodes that saw something down are ever suspected', () => {
  const Round = fc.tuple(
    fc.constantFrom('a', 'b', 'c', 'd'),
    fc.string({ unit: fc.constantFrom('u', 'd', 'x'), minLength: 3, maxLength: 3 }),
  );
  fc.assert(
    fc.property(fc.array(Round, { minLength: 1, maxLength: 60 }), (rounds) => {
      const { changes } = play(rounds.map(([target, signs]) => `${target}:${signs}`).join(' '));
      for (const [index, name] of ['de1', 'us1', 'jp1'].entries()) {
        const kinds = changes.filter(([, , node]) => node === name).map(([, kind]) => kind);
        expect(kinds).toEqual(kinds.map((_, turn) => (turn % 2 === 0 ? 'suspected' : 'trusted')));
        if (rounds.every(([, signs]) => signs[index] !== 'd')) expect(kinds).toEqual([]);
      }
    }),
  );
});

test('after a restart a suspected node is trusted by three votes in a row, whatever its first one says', () => {
  const quarantine = createQuarantine();
  quarantine.restore('us1');
  expect(play('a:uuu b:uuu c:udu d:uuu e:uuu', quarantine).changes).toEqual([]);
  expect(play('f:uuu', quarantine).changes).toEqual([[0, 'trusted', 'us1']]);
});
