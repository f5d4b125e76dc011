import { expect, test } from 'vitest';
import { failed, failure } from '#checks/index.ts';
import { rule, type Scenario, startScenario, target } from '../../../support/scenario.ts';

// A machine that starts with a clock behind the time has it set forward once its network is there: what is to last for a while has not.

const minute = 60_000;
const hours = 3 * 3_600_000;
const host = (name: string) => target(name);

function told({ store }: Scenario, from = 0): readonly string[] {
  return store.deliveries
    .slice(from)
    .map(({ kind, incidentId }) => `${kind} ${store.incidents.get(incidentId)?.target}`);
}

test('a target that no node can judge is notified after 15 minutes, not when the clock is set forward', async () => {
  const rules = [rule('down'), rule('unknown', { unknown: '15m' })];
  await using scenario = await startScenario({ targets: [target('shop', { rules }), target('blog')] });
  scenario.see('shop', 'x');
  await scenario.clock.advance(5 * minute);
  scenario.clock.step(hours);
  await scenario.clock.advance(9 * minute);
  expect(told(scenario)).toEqual([]);
  scenario.clock.step(hours);
  await scenario.clock.advance(5 * minute);
  expect(told(scenario)).toEqual(['opened shop']);
});

test('a check service that is away is notified after 15 minutes', async () => {
  const rules = [rule('down'), rule('unknown', { unknown: '15m' })];
  const service = 'https://checks.example.com';
  await using scenario = await startScenario({ service, targets: [target('shop', { rules })] });
  scenario.see('*', failed(failure('service', 'service_unreachable', 'connect ECONNREFUSED')));
  await scenario.clock.advance(5 * minute);
  scenario.clock.step(hours);
  await scenario.clock.advance(9 * minute);
  expect(told(scenario)).toEqual([]);
  await scenario.clock.advance(5 * minute);
  expect(told(scenario)).toEqual(['opened own check service']);
});

test('nodes that can say nothing of any target mean lost connectivity after three minutes', async () => {
  await using scenario = await startScenario({ targets: ['shop', 'blog', 'mail'].map(host) });
  await scenario.clock.advance(5 * minute);
  scenario.see('*', 'x');
  await scenario.clock.advance(1.2 * minute);
  scenario.clock.step(hours);
  await scenario.clock.advance(1.2 * minute);
  expect(told(scenario)).toEqual([]);
  await scenario.clock.advance(3 * minute);
  expect(told(scenario)).toEqual(['opened own connectivity']);
});

test('a doubt suppresses an outage for five minutes', async () => {
  const names = ['shop', 'blog', 'mail'];
  await using scenario = await startScenario({ targets: names.map(host) });
  await scenario.clock.advance(5 * minute);
  scenario.see('*', 'd');
  await scenario.clock.advance(2.5 * minute);
  expect(told(scenario)).toEqual(['opened own connectivity']);
  scenario.clock.step(hours);
  await scenario.clock.advance(2 * minute);
  expect(told(scenario, 1)).toEqual([]);
  await scenario.clock.advance(4 * minute);
  expect(told(scenario, 1).toSorted()).toEqual(names.map((name) => `opened ${name}`).toSorted());
});

test('the audit finds no incident that is as old as the clock says', async () => {
  const names = ['shop', 'blog', 'mail'];
  const rules = [rule('down', { severity: 'warning' })];
  await using scenario = await startScenario({ targets: names.map((name) => target(name, { rules })) });
  await scenario.clock.advance(5 * minute);
  scenario.see('*', 'd');
  await scenario.clock.advance(3.5 * minute);
  scenario.clock.step(hours);
  await scenario.clock.advance(8 * minute);
  expect(scenario.log.filter(({ msg }) => msg.startsWith('found an unreported'))).toEqual([]);
  expect(told(scenario)).toEqual(['opened own connectivity']);
});

test('the votes of a suspected node count again after five minutes', async () => {
  const only = target('only', { nodes: { kind: 'named', names: ['us1'] } });
  await using scenario = await startScenario({ targets: [...['a', 'b', 'c', 'd'].map(host), only] });
  scenario.see('*', 'udu');
  scenario.see('only', 'u');
  await scenario.clock.advance(3 * minute);
  scenario.see('only', 'd');
  await scenario.clock.advance(minute);
  scenario.clock.step(hours);
  await scenario.clock.advance(1.5 * minute);
  expect(told(scenario)).not.toContain('opened only');
  await scenario.clock.advance(9 * minute);
  expect(told(scenario)).toContain('opened only');
});

test('routes have 15 seconds to come back after lost connectivity', async () => {
  const names = ['shop', 'blog', 'mail'];
  const at = (name: string) => names.indexOf(name) * 6_000;
  await using scenario = await startScenario({
    targets: names.map((name) => target(name, { schedule: { kind: 'every', everyMs: 10_000 } })),
  });
  await scenario.clock.advance(5 * minute);
  scenario.see('*', 'd');
  await scenario.clock.advance(2 * minute);
  const before = told(scenario).length;
  scenario.see('shop', 'u');
  await scenario.clock.advance(21_000);
  scenario.clock.step(hours);
  await scenario.clock.advance(4_000);
  expect(told(scenario, before)).toEqual(['resolved own connectivity']);
  for (const name of names) scenario.see(name, 'u');
  await scenario.clock.advance(minute + at('mail'));
  expect(told(scenario, before)).toEqual(['resolved own connectivity']);
});

test('a target waits for a check of what it depends on for two minutes', async () => {
  const router = target('router', { schedule: { kind: 'every', everyMs: 600_000 } });
  const shop = target('shop', { dependsOn: ['router'] });
  await using scenario = await startScenario({ targets: [router, shop, target('blog')], downTakesMs: 30_000 });
  await scenario.clock.advance(12 * minute);
  scenario.see('shop', 'd');
  scenario.see('router', 'd');
  for (const known = scenario.store.incidents.size; scenario.store.incidents.size === known;)
    await scenario.clock.advance(500);
  scenario.clock.step(hours);
  await scenario.clock.advance(5 * minute);
  expect(told(scenario)).toEqual(['opened router']);
});
