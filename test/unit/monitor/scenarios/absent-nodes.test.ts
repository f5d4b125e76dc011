import { test } from 'vitest';
import { type Row, type Scenario, startScenario, target } from '../../../support/scenario.ts';
import { nodeInfo } from '../../../support/votes.ts';

const away =
  (reason: string | null) =>
  ({ monitor, clock }: Scenario) =>
    monitor.nodeAbsent({ node: nodeInfo('us1'), since: clock.now(), reason });

test.each<{ name: string; rows: readonly Row[] }>([
  {
    name: 'a node that is away for long is told once, and its return',
    rows: [
      { minute: 0 },
      { minute: 5, see: { shop: 'uxu' }, also: away('it is not connected'), tell: ['OFFLINE absent node us1'] },
      { minute: 30, also: away('it is not connected') },
      { minute: 60, see: { shop: 'u' }, also: away(null), tell: ['RESOLVED absent node us1'] },
      { minute: 90 },
    ],
  },
  {
    name: 'a node whose return nobody told of is back with its first answer',
    rows: [
      { minute: 0 },
      { minute: 5, see: { shop: 'uxu' }, also: away('it is not connected'), tell: ['OFFLINE absent node us1'] },
      { minute: 60, see: { shop: 'u' }, tell: ['RESOLVED absent node us1'] },
      { minute: 90 },
    ],
  },
])('$name', async ({ rows }) => {
  await using scenario = await startScenario({ targets: [target('shop')] });
  await scenario.play(rows);
});
