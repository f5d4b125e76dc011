import { expect, test } from 'vitest';
import { watchOurselves } from '#compose/ourselves.ts';
import { ownBudget, ownNodeOverload, ownOverload } from '#monitor/judge/incident.ts';
import { startScenario, target } from '../../../support/scenario.ts';

test('a hub that cannot judge everything says so once, as a warning, and once that it can again', async () => {
  await using scenario = await startScenario({ targets: [target('shop')] });
  await scenario.clock.advance(600_000);
  const trouble = { name: ownOverload, which: 'what nodes see' } as const;
  const reason = 'more comes in than can be judged: 812 rounds of the last minute were left out';
  scenario.monitor.troubled({ ...trouble, since: scenario.clock.now() - 60_000, reason });
  await scenario.clock.advance(600_000);
  expect(scenario.channel.subjects).toEqual([`[UNJUDGED] own overload: ${reason}`]);
  const { facts } = scenario.channel.attempts[0]!.message.content;
  expect(facts).toContainEqual(['What', 'part of what nodes see']);
  expect(scenario.monitor.openIncidents()).toMatchObject([{ target: 'own overload', severity: 'warning' }]);
  scenario.monitor.troubled({ ...trouble, since: scenario.clock.now(), reason: null });
  await scenario.clock.advance(60_000);
  expect(scenario.channel.subjects.slice(1)).toEqual([
    expect.stringMatching(/^\[RESOLVED\] own overload: judged again after /),
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
      nodeOverload: () => null,
    },
    monitor: scenario.monitor,
    hubs: null,
    clock: scenario.clock,
  });
  await scenario.clock.advance(100_000);
  expect(scenario.channel.subjects).toEqual([]);
  await scenario.clock.advance(600_000);
  expect(scenario.channel.subjects).toEqual([`[UNREAD] own node budget: ${excess}`]);
  expect(scenario.monitor.openIncidents()).toMatchObject([{ target: ownBudget, severity: 'warning' }]);
  excess = null;
  await scenario.clock.advance(600_000);
  expect(scenario.channel.subjects.slice(1)).toEqual([
    expect.stringMatching(/^\[RESOLVED\] own node budget: read again after /),
  ]);
});

test('a node that has more to check than it can manage is one warning, and one more once it can', async () => {
  await using scenario = await startScenario({ targets: [target('shop')] });
  await scenario.clock.advance(600_000);
  let reason: string | null = 'more is due than can be checked: node de1 left out 812 checks of the last minute';
  using _ = watchOurselves('watchpost.db', {
    store: { health: () => ({ lastError: null }) as never },
    checking: { hub: () => null, overload: () => null, nodeOverload: () => reason },
    monitor: scenario.monitor,
    hubs: null,
    clock: scenario.clock,
  });
  await scenario.clock.advance(50_000);
  expect(scenario.channel.subjects).toEqual([]);
  await scenario.clock.advance(600_000);
  expect(scenario.channel.subjects).toEqual([`[UNCHECKED] own node overload: ${reason}`]);
  expect(scenario.monitor.openIncidents()).toMatchObject([{ target: ownNodeOverload, severity: 'warning' }]);
  reason = null;
  await scenario.clock.advance(600_000);
  expect(scenario.channel.subjects.slice(1)).toEqual([
    expect.stringMatching(/^\[RESOLVED\] own node overload: checked again after /),
  ]);
});
