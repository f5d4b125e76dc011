import { expect, test } from 'vitest';
import { watchOurselves } from '#compose/ourselves.ts';
import { ownBudget, ownNodeOverload, ownOverload } from '#monitor/judge/incident.ts';
import { startScenario, target } from '../../../support/scenario.ts';

test('a hub that cannot judge everything says so once, as a warning, and once that it can again', async () => {
  await using scenario = await startScenario({ targets: [target('shop')] });
  await scenario.clock.advance(600_000);
  const trouble = { name: ownOverload, which: 'Watchpost' } as const;
  const reason = '812 rounds of healthy targets left out in the last minute';
  scenario.monitor.troubled({ ...trouble, since: scenario.clock.now() - 60_000, reason });
  await scenario.clock.advance(600_000);
  expect(scenario.channel.subjects).toEqual([`[OVERLOADED] Watchpost: ${reason}`]);
  const { facts, headline } = scenario.channel.attempts[0]!.message.content;
  expect(headline).toBe(`Watchpost is overloaded: ${reason}`);
  expect(facts).toContainEqual(['What', 'Watchpost']);
  expect(scenario.monitor.openIncidents()).toMatchObject([{ target: 'own overload', severity: 'warning' }]);
  scenario.monitor.troubled({ ...trouble, since: scenario.clock.now(), reason: null });
  await scenario.clock.advance(60_000);
  expect(scenario.channel.subjects.slice(1)).toEqual([
    expect.stringMatching(/^\[RESOLVED\] Watchpost: keeping up again after /),
  ]);
  expect(scenario.monitor.openIncidents()).toEqual([]);
});

test('a node that sends more than the hub reads is one warning, and one more once it does not', async () => {
  await using scenario = await startScenario({ targets: [target('shop')] });
  await scenario.clock.advance(600_000);
  let excess: string | null = 'node de1 sends more than 8 MB a second';
  using _ = watchOurselves('watchpost.db', {
    store: { health: () => ({ lastError: null }) as never },
    checking: {
      hub: () => ({ servers: ['nats://a'], trouble: () => null, excess: () => excess }),
      overload: () => null,
      overloadedNodes: () => [],
    },
    monitor: scenario.monitor,
    hubs: null,
    clock: scenario.clock,
  });
  await scenario.clock.advance(100_000);
  expect(scenario.channel.subjects).toEqual([]);
  await scenario.clock.advance(600_000);
  expect(scenario.channel.subjects).toEqual([`[THROTTLED] nodes: ${excess}`]);
  expect(scenario.monitor.openIncidents()).toMatchObject([{ target: ownBudget, severity: 'warning' }]);
  excess = null;
  await scenario.clock.advance(600_000);
  expect(scenario.channel.subjects.slice(1)).toEqual([
    expect.stringMatching(/^\[RESOLVED\] nodes: read in full again after /),
  ]);
});

test('a node that has more to check than it can manage is one warning, and one more once it can', async () => {
  await using scenario = await startScenario({ targets: [target('shop')] });
  await scenario.clock.advance(600_000);
  let nodes = [
    { node: 'de1', checks: 812 },
    { node: 'us1', checks: 1 },
  ];
  using _ = watchOurselves('watchpost.db', {
    store: { health: () => ({ lastError: null }) as never },
    checking: { hub: () => null, overload: () => null, overloadedNodes: () => nodes },
    monitor: scenario.monitor,
    hubs: null,
    clock: scenario.clock,
  });
  await scenario.clock.advance(50_000);
  expect(scenario.channel.subjects).toEqual([]);
  await scenario.clock.advance(600_000);
  const reason = 'de1 left out 812 checks in the last minute, us1 1 check';
  expect(scenario.channel.subjects).toEqual([`[OVERLOADED] nodes: ${reason}`]);
  expect(scenario.channel.attempts[0]?.message.content.headline).toBe(`Node de1 is overloaded: ${reason}`);
  expect(scenario.monitor.openIncidents()).toMatchObject([{ target: ownNodeOverload, severity: 'warning' }]);
  nodes = [];
  await scenario.clock.advance(600_000);
  expect(scenario.channel.subjects.slice(1)).toEqual([
    expect.stringMatching(/^\[RESOLVED\] nodes: keeping up again after /),
  ]);
  const { headline } = scenario.channel.attempts[1]?.message.content ?? {};
  expect(headline).toMatch(/^Node de1 is keeping up again after /);
});
