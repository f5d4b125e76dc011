import { expect, test } from 'vitest';
import { CheckSpec } from '#checks/index.ts';
import { createNextDue } from '#schedule/schedule.ts';
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

/** Runs until somebody is told of the shop that is down, from this moment on. */
async function untilAfter(scenario: Scenario, moment: number): Promise<number> {
  while (scenario.clock.now() < moment) await scenario.clock.advance(1_000);
  return untilTold(scenario, 'opened', 'shop', moment);
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

test.each([
  { name: 'before a round begins', endsMs: -5_000 },
  { name: 'while a round runs', endsMs: 5_000 },
])('what still fails when maintenance ends $name is notified within a minute', async ({ endsMs }) => {
  const start = '2026-01-01T00:00:00Z';
  const due = createNextDue(rarely, 'shop')(Date.parse(start) + 3_600_000) ?? 0;
  const to = due + endsMs;
  await using scenario = await startScenario({
    targets: [target('shop', { schedule: rarely }), target('blog')],
    maintenance: [{ targets: ['shop'], time: { kind: 'once', from: Date.parse(start), to } }],
    start,
    downTakesMs: 10_000,
  });
  await scenario.clock.advance(60_000);
  scenario.see('shop', 'd');
  expect((await untilAfter(scenario, to)) - to).toBeLessThanOrEqual(60_000);
  expect([...scenario.store.incidents.values()][0]?.doubt).toBeUndefined();
});

test.each(['expires while a round runs', 'expires between two rounds'])(
  'what still fails when a silence %s is notified within a minute',
  async (how) => {
    const shop = target('shop', { schedule: rarely });
    await using scenario = await startScenario({ targets: [shop, target('blog')], downTakesMs: 10_000 });
    const silence = { id: 'quiet', targets: ['shop'], why: 'we know', from: 0, until: Date.parse('2027-01-01') };
    scenario.monitor.silence(silence);
    scenario.see('shop', 'd');
    await untilRoundOf(scenario, 'shop');
    await scenario.clock.advance(120_000);
    await untilRoundOf(scenario, 'shop');
    if (how === 'expires between two rounds') await scenario.clock.advance(120_000);
    const until = scenario.clock.now();
    scenario.monitor.silence({ ...silence, until });
    expect((await untilTold(scenario, 'opened', 'shop')) - until).toBeLessThanOrEqual(60_000);
  },
);

test('what still fails when a reload takes a dependency away is notified within a minute', async () => {
  const shop = target('shop', { schedule: rarely, dependsOn: ['router'] });
  await using scenario = await startScenario({ targets: [target('router'), shop, target('blog')] });
  scenario.see('router', 'd');
  scenario.see('shop', 'd');
  await scenario.clock.advance(1_200_000);
  expect([...scenario.store.incidents.values()].find((one) => one.target === 'shop')?.held?.by).toBe('dependency');
  const since = scenario.clock.now();
  await scenario.apply({ targets: [target('router'), { ...shop, dependsOn: [] }, target('blog')] });
  expect((await untilTold(scenario, 'opened', 'shop')) - since).toBeLessThanOrEqual(60_000);
});
