import { expect, test } from 'vitest';
import { failed, failure } from '#checks/index.ts';
import { rule, type Scenario, startScenario, target } from '../../../support/scenario.ts';

// A machine that starts with a clock ahead of the time has it set back once its network is there: what was noted before lies ahead.

const minute = 60_000;
const day = 86_400_000;
const host = (name: string) => target(name);

function told({ store }: Scenario, from = 0): readonly string[] {
  return store.deliveries
    .slice(from)
    .map(({ kind, incidentId }) => `${kind} ${store.incidents.get(incidentId)?.target}`);
}

const openOf = ({ store }: Scenario, name: string) =>
  [...store.incidents.values()].find((one) => one.target === name && one.endedAt === null);

/** What has this name, or everything, is down and up again, and then the clock is set back. */
async function failAndSetBack(scenario: Scenario, name: string): Promise<void> {
  await scenario.clock.advance(10 * minute);
  scenario.see(name, 'd');
  await scenario.clock.advance(5 * minute);
  scenario.see(name, 'u');
  await scenario.clock.advance(10 * minute);
  scenario.clock.step(-day);
}

test('an outage is notified at once, although own connectivity was lost and back before', async () => {
  await using scenario = await startScenario({ targets: ['shop', 'blog', 'mail'].map(host) });
  await failAndSetBack(scenario, '*');
  await scenario.clock.advance(2 * minute);
  const before = scenario.store.deliveries.length;
  scenario.see('shop', 'd');
  await scenario.clock.advance(2 * minute);
  expect(told(scenario, before)).toEqual(['opened shop']);
  expect(openOf(scenario, 'shop')).toMatchObject({ held: null, lateReason: null });
});

test('an outage is notified at once, although what the target depends on was down before', async () => {
  const shop = target('shop', { dependsOn: ['router'] });
  await using scenario = await startScenario({ targets: [target('router'), shop, target('blog')] });
  await failAndSetBack(scenario, 'router');
  await scenario.clock.advance(2 * minute);
  const before = scenario.store.deliveries.length;
  scenario.see('shop', 'd');
  await scenario.clock.advance(3 * minute);
  expect(told(scenario, before)).toEqual(['opened shop']);
});

test('slowness that ended is over within its window', async () => {
  const slow = [rule('slow', { latency: { above: '500ms', window: '10m' } })];
  await using scenario = await startScenario({ targets: [target('shop', { rules: slow }), target('blog')] });
  scenario.see('shop', '9');
  await scenario.clock.advance(15 * minute);
  expect(told(scenario)).toEqual(['opened shop']);
  scenario.clock.step(-day);
  scenario.see('shop', '1');
  await scenario.clock.advance(15 * minute);
  expect(told(scenario)).toEqual(['opened shop', 'resolved shop']);
});

test('a target that no node can judge is notified in time', async () => {
  const rules = [rule('down'), rule('unknown', { unknown: '15m' })];
  await using scenario = await startScenario({ targets: [target('shop', { rules }), target('blog')] });
  scenario.see('shop', 'x');
  await scenario.clock.advance(5 * minute);
  scenario.clock.step(-day);
  await scenario.clock.advance(17 * minute);
  expect(told(scenario)).toEqual(['opened shop']);
});

test('a check service that is away is notified in time', async () => {
  const rules = [rule('down'), rule('unknown', { unknown: '15m' })];
  const service = 'https://checks.example.com';
  await using scenario = await startScenario({ service, targets: [target('shop', { rules })] });
  scenario.see('*', failed(failure('service', 'service_unreachable', 'connect ECONNREFUSED')));
  await scenario.clock.advance(5 * minute);
  scenario.clock.step(-day);
  await scenario.clock.advance(17 * minute);
  expect(told(scenario)).toEqual(['opened own check service']);
});

test('what only a suspected node sees is notified in time', async () => {
  const only = target('only', { nodes: { kind: 'named', names: ['us1'] } });
  await using scenario = await startScenario({ targets: [...['a', 'b', 'c', 'd'].map(host), only] });
  scenario.see('*', 'udu');
  scenario.see('only', 'u');
  await scenario.clock.advance(3 * minute);
  scenario.see('only', 'd');
  await scenario.clock.advance(minute);
  scenario.clock.step(-day);
  await scenario.clock.advance(10 * minute);
  expect(told(scenario)).toContain('opened only');
});

test('a suspected node is notified in time', async () => {
  await using scenario = await startScenario({ targets: ['a', 'b', 'c'].map(host) });
  const isSuspected = () =>
    scenario.store.records.some(({ target: name, incidents }) => name === 'node us1' && incidents.length > 0);
  scenario.see('*', 'udu');
  await scenario.clock.advance(minute);
  expect(isSuspected()).toBe(false);
  scenario.clock.step(-day);
  await scenario.clock.advance(3 * minute);
  expect(told(scenario)).toEqual(['opened node us1']);
});
