import { expect, test } from 'vitest';
import { failed, failure } from '#checks/index.ts';
import { Rule } from '#monitor/judge/rule.ts';
import { ownNats } from '#monitor/judge/incident.ts';
import { startScenario, target } from '../../../support/scenario.ts';

const gone = failed(failure('node', 'gone', 'the node cannot be reached: the connection to NATS was lost'));
const unknown = { name: 'unknown', rule: Rule.parse({ unknown: '15m' }) };

test('a hub that has lost NATS says so once, by its URL and its reason, and so it says its return; no target and no node is told', async () => {
  const names = Array.from({ length: 20 }, (_, index) => `t${index}`);
  await using scenario = await startScenario({
    targets: names.map((name) => {
      const plain = target(name);
      return { ...plain, rules: [...plain.rules, unknown] };
    }),
  });
  const trouble = { name: ownNats, which: 'tls://nats.example.com:4222' } as const;
  await scenario.clock.advance(600_000);
  for (const name of names) scenario.see(name, gone);
  await scenario.clock.advance(60_000);
  const reason = 'the connection to NATS was lost: ECONNREFUSED';
  scenario.monitor.troubled({ ...trouble, since: scenario.clock.now() - 60_000, reason });
  await scenario.clock.advance(3_600_000);
  expect(scenario.channel.subjects).toEqual([`[OFFLINE] Watchpost NATS: ${reason}`]);
  expect(scenario.channel.attempts[0]?.message.content.facts).toContainEqual([
    'What',
    'the connection to NATS at tls://nats.example.com:4222',
  ]);
  for (const name of names) scenario.see(name, 'u');
  await scenario.clock.advance(60_000);
  scenario.monitor.troubled({ ...trouble, since: scenario.clock.now(), reason: null });
  await scenario.clock.advance(600_000);
  expect(scenario.channel.subjects.slice(1)).toEqual([
    expect.stringMatching(/^\[RESOLVED\] Watchpost NATS: back after 1h/),
  ]);
});

test('while NATS is lost, what nodes of our own see is told as ever', async () => {
  await using scenario = await startScenario({ nodes: ['here', 'far'], targets: [target('shop'), target('blog')] });
  await scenario.clock.advance(600_000);
  scenario.monitor.troubled({ name: ownNats, which: 'nats://n', since: scenario.clock.now(), reason: 'lost' });
  scenario.see('*', 'ux');
  scenario.see('shop', 'dx');
  await scenario.clock.advance(300_000);
  expect(scenario.channel.subjects).toEqual([
    '[OFFLINE] Watchpost NATS: lost',
    expect.stringMatching(/^\[DOWN\] shop/),
  ]);
});

test('a hub whose NATS was taken out of the configuration says that it is no longer monitored, not that it is back', async () => {
  await using scenario = await startScenario({ targets: [target('shop')] });
  await scenario.clock.advance(60_000);
  const trouble = { name: ownNats, which: 'nats://n', since: scenario.clock.now() } as const;
  scenario.monitor.troubled({ ...trouble, reason: 'lost' });
  await scenario.clock.advance(60_000);
  scenario.monitor.troubled({ ...trouble, which: '', reason: null, isGone: true });
  await scenario.clock.advance(60_000);
  expect(scenario.channel.subjects).toEqual([
    '[OFFLINE] Watchpost NATS: lost',
    expect.stringMatching(/^\[CLOSED\] Watchpost NATS: no longer monitored/),
  ]);
});

test('the end of an incident of our own is dated by when it was over, not by when that was believed', async () => {
  await using scenario = await startScenario({ targets: [target('shop')] });
  await scenario.clock.advance(600_000);
  const trouble = { name: ownNats, which: 'nats://n' } as const;
  scenario.monitor.troubled({ ...trouble, since: scenario.clock.now() - 60_000, reason: 'lost' });
  await scenario.clock.advance(240_000);
  const backAt = scenario.clock.now();
  await scenario.clock.advance(60_000);
  scenario.monitor.troubled({ ...trouble, since: backAt, reason: null });
  await scenario.clock.advance(60_000);
  const [incident] = scenario.store.incidents.values();
  expect(incident).toMatchObject({ startedAt: backAt - 300_000, endedAt: backAt });
  expect(scenario.channel.subjects[1]).toBe('[RESOLVED] Watchpost NATS: back after 5m');
});
