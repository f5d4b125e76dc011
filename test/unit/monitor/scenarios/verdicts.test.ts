import { expect, test } from 'vitest';
import { type Row, rule, type ScenarioOptions, startScenario, target } from '../../../support/scenario.ts';
import { down, up } from '../../../support/votes.ts';

interface Case {
  readonly name: string;
  readonly with?: Partial<ScenarioOptions>;
  readonly rows: readonly Row[];
}

const five = ['de1', 'us1', 'jp1', 'fr1', 'br1'];

test.each<Case>([
  {
    name: 'an outage is told once it is sure, and its end',
    rows: [
      { minute: 0 },
      { minute: 5, see: { shop: 'd' }, tell: ['DOWN shop'] },
      { minute: 15, see: { shop: 'u' }, tell: ['RESOLVED shop'] },
      { minute: 25 },
    ],
  },
  {
    name: 'one bad node of five tells nobody',
    with: { nodes: five },
    rows: [{ minute: 0 }, { minute: 5, see: { shop: 'uuduu' } }, { minute: 300, see: { shop: 'u' } }, { minute: 310 }],
  },
  {
    name: 'three of five nodes are a majority',
    with: { nodes: five },
    rows: [
      { minute: 0 },
      { minute: 5, see: { shop: 'ddduu' }, tell: ['DOWN shop'] },
      { minute: 9, see: { shop: 'dduuu' }, tell: ['RESOLVED shop'] },
      { minute: 20 },
    ],
  },
  {
    name: 'a lost packet on every node, once, tells nobody: the round that makes sure is good',
    with: { targets: [target('shop'), target('blog')] },
    rows: [{ minute: 0 }, { minute: 5, see: { shop: failingOnce() } }, { minute: 30 }],
  },
  {
    name: 'flapping by the minute is one incident, over when it has been up for two rounds',
    rows: [
      { minute: 0 },
      { minute: 5, see: { shop: 'd' }, tell: ['DOWN shop'] },
      ...Array.from({ length: 10 }, (_, index) => ({ minute: 7 + index, see: { shop: index % 2 === 0 ? 'u' : 'd' } })),
      { minute: 17, see: { shop: 'u' }, tell: ['RESOLVED shop'] },
      { minute: 30 },
    ],
  },
  {
    name: 'a tie keeps what was: up stays up, down stays down',
    with: { nodes: ['de1', 'us1'] },
    rows: [
      { minute: 0 },
      { minute: 5, see: { shop: 'ud' } },
      { minute: 60, see: { shop: 'd' }, tell: ['DOWN shop'] },
      { minute: 65, see: { shop: 'du' } },
      { minute: 120, see: { shop: 'u' }, tell: ['RESOLVED shop'] },
      { minute: 130 },
    ],
  },
  {
    name: 'slow, then down, then up and slow: a beginning that an outage hides is not told',
    with: { targets: [target('shop', { rules: [rule('slow', slow()), rule('down')] }), target('blog')] },
    rows: [
      { minute: 0, see: { shop: '1' } },
      { minute: 20, see: { shop: '9' }, tell: ['SLOW shop'] },
      { minute: 40, see: { shop: 'd' }, tell: ['DOWN shop'] },
      { minute: 60, see: { shop: '9' }, tell: ['RESOLVED shop'] },
      { minute: 80, see: { shop: '1' }, tell: ['RESOLVED shop'] },
      { minute: 100 },
    ],
  },
  {
    name: 'a node that is gone is not an outage, and does not hide one',
    rows: [
      { minute: 0 },
      { minute: 5, see: { shop: 'uux' } },
      { minute: 20, see: { shop: 'ddx' }, tell: ['DOWN shop'] },
      { minute: 30, see: { shop: 'uux' }, tell: ['RESOLVED shop'] },
      { minute: 40 },
    ],
  },
  {
    name: 'when all nodes are gone, one mail says that nothing is checked',
    with: { targets: [target('shop'), target('blog'), target('wiki')] },
    rows: [
      { minute: 0 },
      { minute: 5, see: { '*': 'x' }, tell: ['OFFLINE own connectivity'] },
      { minute: 60, see: { '*': 'u' }, tell: ['RESOLVED own connectivity'] },
      { minute: 70 },
    ],
  },
  {
    name: 'a single target whose nodes are all gone for a while tells nobody of an outage',
    rows: [
      { minute: 0 },
      { minute: 5, see: { shop: 'x' } },
      { minute: 7, see: { shop: 'u' } },
      { minute: 20, see: { shop: 'x' }, tell: ['OFFLINE own connectivity'] },
      { minute: 40, see: { shop: 'u' }, tell: ['RESOLVED own connectivity'] },
      { minute: 50 },
    ],
  },
])('$name', async ({ rows, with: options }) => {
  await using scenario = await startScenario({ targets: [target('shop')], ...options });
  await scenario.play(rows);
  expect(scenario.log.filter(({ level }) => level >= 50)).toEqual([]);
});

function slow() {
  return { latency: { above: '800ms', clear: '600ms', statistic: 'p95', window: '5m' }, recover: 1 };
}

// The first round of three nodes finds it down, whatever follows finds it up.
function failingOnce() {
  let looks = 0;
  return () => {
    looks += 1;
    return looks <= 3 ? down() : up();
  };
}
