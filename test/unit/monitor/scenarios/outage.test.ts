import { test } from 'vitest';
import { type Row, startScenario, target } from '../../../support/scenario.ts';

interface Case {
  readonly name: string;
  readonly rows: readonly Row[];
}

test.each<Case>([
  {
    name: 'an outage is told when it is sure, and its end',
    rows: [
      { minute: 0 },
      { minute: 5, see: { shop: 'd' }, tell: ['DOWN shop'] },
      { minute: 15, see: { shop: 'u' }, tell: ['RESOLVED shop'] },
      { minute: 25 },
    ],
  },
  {
    name: 'one bad node of three tells nobody',
    rows: [{ minute: 0 }, { minute: 5, see: { shop: 'udu' } }, { minute: 60, see: { shop: 'u' } }, { minute: 70 }],
  },
])('$name', async ({ rows }) => {
  await using scenario = await startScenario({ targets: [target('shop')] });
  await scenario.play(rows);
});
