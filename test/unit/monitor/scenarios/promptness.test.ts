import { expect, test } from 'vitest';
import { CheckSpec } from '#checks/index.ts';
import { rule, type Scenario, startScenario, target } from '../../../support/scenario.ts';
import { notUp, up } from '../../../support/votes.ts';

// How soon people are told after something changed.

const rarely = { kind: 'every', everyMs: 600_000 } as const;
const targets = ['a', 'b', 'c', 'd', 'e'];

/** Runs until somebody is told of this, for at most ten minutes; gives the moment, which is not before `since`. */
async function untilTold(scenario: Scenario, kind: string, of: string, since = scenario.clock.now()): Promise<number> {
  const limit = scenario.clock.now() + 600_000;
  for (;;) {
    const told = scenario.store.deliveries.find(
      (one) =>
        one.kind === kind && scenario.store.incidents.get(one.incidentId)?.target === of && one.createdAt >= since,
    );
    if (told !== undefined) return told.createdAt;
    if (scenario.clock.now() > limit) throw new Error(`nobody is told of ${kind} ${of}`);
    await scenario.clock.advance(1_000);
  }
}

/** Runs until the target's next round has just begun. */
async function untilRoundOf(scenario: Scenario, name: string): Promise<void> {
  const rounds = () => scenario.runs.filter((run) => run.target === name).length;
  for (const before = rounds(); rounds() === before;) await scenario.clock.advance(1_000);
}

test('a target that is down alone is told in seconds, however rarely the others are looked at', async () => {
  await using scenario = await startScenario({
    targets: [target('shop'), ...targets.map((name) => target(name, { schedule: rarely }))],
  });
  await scenario.clock.advance(600_000);
  scenario.see('shop', 'd');
  await untilRoundOf(scenario, 'shop');
  const since = scenario.clock.now();
  expect((await untilTold(scenario, 'opened', 'shop')) - since).toBeLessThanOrEqual(6_000);
});

test('a lost uplink is told in seconds, and nothing else is', async () => {
  await using scenario = await startScenario({ targets: targets.map((name) => target(name, { schedule: rarely })) });
  await scenario.clock.advance(700_000);
  scenario.see('*', 'd');
  scenario.cutOff(true);
  await untilRoundOf(scenario, 'c');
  const since = scenario.clock.now();
  expect((await untilTold(scenario, 'opened', 'own connectivity')) - since).toBeLessThanOrEqual(12_000);
  await scenario.clock.advance(1_200_000);
  expect(scenario.store.deliveries).toHaveLength(1);
});

test('what is still down after the uplink came back is told within half a minute', async () => {
  await using scenario = await startScenario({
    targets: targets.map((name) => target(name, name === 'c' ? { schedule: rarely } : {})),
  });
  await scenario.clock.advance(600_000);
  scenario.see('*', 'd');
  scenario.cutOff(true);
  await scenario.clock.advance(900_000);
  scenario.see('*', 'u');
  scenario.cutOff(false);
  scenario.see('c', 'd');
  const since = await untilTold(scenario, 'resolved', 'own connectivity');
  expect((await untilTold(scenario, 'opened', 'c', since)) - since).toBeLessThanOrEqual(25_000);
});

test('what is still down when its router is back is told in seconds', async () => {
  await using scenario = await startScenario({
    targets: [
      target('router'),
      target('shop', { dependsOn: ['router'], schedule: rarely }),
      ...targets.map((name) => target(name)),
    ],
  });
  await scenario.clock.advance(60_000);
  scenario.see('router', 'd');
  scenario.see('shop', 'd');
  await scenario.clock.advance(1_200_000);
  expect(scenario.store.deliveries).toHaveLength(1);
  scenario.see('router', 'u');
  const since = await untilTold(scenario, 'resolved', 'router');
  expect((await untilTold(scenario, 'opened', 'shop', since)) - since).toBeLessThanOrEqual(5_000);
});

test('a target that opens with its first failing round waits for a look at its router', async () => {
  const quick = [rule('down', { rounds: 1 })];
  await using scenario = await startScenario({
    targets: [
      target('router', { schedule: rarely, rules: quick }),
      target('shop', { dependsOn: ['router'], rules: quick }),
      ...targets.map((name) => target(name)),
    ],
  });
  await scenario.clock.advance(60_000);
  // One node still sees it up: our own connectivity is in no doubt.
  scenario.see('router', 'ddu');
  scenario.see('shop', 'ddu');
  await scenario.clock.advance(300_000);
  const told = scenario.store.deliveries.map(({ incidentId }) => scenario.store.incidents.get(incidentId)?.target);
  expect(told).toEqual(['router']);
});

test('of a target that is down, loss is not told; of one that loses some, it is', async () => {
  const spec = CheckSpec.parse({ type: 'ping', host: '192.0.2.1' });
  const rules = [rule('lossy', { loss: { above: '20%', clear: '5%' }, rounds: 1, recover: 1 }), rule('down')];
  await using scenario = await startScenario({ targets: [target('gateway', { spec, rules }), target('blog')] });
  const told = () =>
    scenario.store.deliveries.map(({ incidentId }) => scenario.store.incidents.get(incidentId)?.wording.word);
  scenario.see('gateway', { ...notUp('loss'), facts: { loss: 1 } });
  await scenario.clock.advance(300_000);
  expect(told()).toEqual(['DOWN']);
  scenario.see('gateway', up(0.02, { facts: { loss: 0 } }));
  await scenario.clock.advance(300_000);
  expect(told()).toEqual(['DOWN', 'DOWN']);
  scenario.see('gateway', up(0.02, { facts: { loss: 0.5 } }));
  await scenario.clock.advance(300_000);
  expect(told()).toEqual(['DOWN', 'DOWN', 'LOSS']);
});
