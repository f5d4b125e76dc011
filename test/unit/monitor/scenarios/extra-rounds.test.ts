import { expect, test } from 'vitest';
import { rule, startScenario, target } from '../../../support/scenario.ts';
import { down } from '../../../support/votes.ts';

const times = (runs: readonly { readonly at: number }[]) =>
  runs.map(({ at }, index) => (at - (runs[index - 1]?.at ?? at)) / 1_000);

test('the first failing round is made sure of five seconds later, on other nodes where some are asked', async () => {
  await using scenario = await startScenario({
    nodes: ['de1', 'us1', 'jp1', 'fr1'],
    targets: [target('shop', { nodes: { kind: 'count', count: 2, avoid: [] }, rules: [rule('down', { rounds: 3 })] })],
  });
  scenario.see('shop', 'd');
  await scenario.clock.advance(60_000);
  expect(scenario.runs.map(({ nodes }) => nodes)).toEqual([
    ['de1', 'us1'],
    ['jp1', 'fr1'],
    ['de1', 'us1'],
  ]);
  expect(times(scenario.runs)).toEqual([0, 5, 5]);
  const [incident] = scenario.store.incidents.values();
  expect(incident).toMatchObject({ startedAt: scenario.runs[0]?.at, openedAt: scenario.runs[2]?.at });
});

test('an open incident, a rule that asks for none and a rule of another kind are not made sure of', async () => {
  for (const written of [
    { confirm: false },
    { rounds: 1 },
    { latency: { above: '1s' } },
    { rounds: 9, confirm: false },
  ]) {
    await using scenario = await startScenario({ targets: [target('shop', { rules: [rule('down', written)] })] });
    scenario.see('shop', written.latency === undefined ? 'd' : '9');
    await scenario.clock.advance(300_000);
    expect(times(scenario.runs)).toEqual([0, 60, 60, 60, 60]);
  }
});

test('while results are read late the next scheduled round makes sure', async () => {
  await using scenario = await startScenario({ targets: [target('shop')], waitedMs: () => 600 });
  scenario.see('shop', 'd');
  await scenario.clock.advance(240_000);
  expect(times(scenario.runs)).toEqual([0, 60, 60, 60]);
  const [incident] = scenario.store.incidents.values();
  expect(incident).toMatchObject({ openedAt: scenario.runs[1]?.at });
});

test('a round that makes sure begins as soon as results are read in time again', async () => {
  let isBehind = true;
  await using scenario = await startScenario({ targets: [target('shop')], waitedMs: () => (isBehind ? 600 : 0) });
  scenario.see('shop', 'd');
  while (scenario.runs.length === 0) await scenario.clock.advance(100);
  await scenario.clock.advance(12_500);
  isBehind = false;
  await scenario.clock.advance(2_000);
  expect(times(scenario.runs).slice(1)).toEqual([13]);
});

test.each([
  { waitedMs: 0, isAsked: true },
  { waitedMs: 600, isAsked: false },
])(
  'what depends on a target that is back is asked for only while results are read in time: $waitedMs ms late',
  async ({ waitedMs, isAsked }) => {
    let late = 0;
    const host = target('host', { dependsOn: ['router'], rules: [rule('down', { confirm: false })] });
    const router = target('router', { schedule: { kind: 'every', everyMs: 20_000 } });
    await using scenario = await startScenario({ targets: [router, host], waitedMs: () => late });
    scenario.see('router', 'd');
    scenario.see('host', 'd');
    await scenario.clock.advance(240_000);
    late = waitedMs;
    scenario.see('router', 'u');
    await scenario.clock.advance(240_000);
    const between = times(scenario.runs.filter(({ target: of }) => of === 'host')).slice(1);
    expect(between.some((seconds) => seconds !== 60)).toBe(isAsked);
    expect(between.length).toBeGreaterThan(5);
  },
);

test('a round that makes sure is not run where the next one is as near', async () => {
  const shop = target('shop', { schedule: { kind: 'every', everyMs: 4_000 } });
  await using scenario = await startScenario({ targets: [shop] });
  scenario.see('shop', 'd');
  await scenario.clock.advance(30_000);
  expect(new Set(times(scenario.runs).slice(1))).toEqual(new Set([4]));
});

test('a round that takes long leaves less time for one that makes sure', async () => {
  const shop = target('shop', { schedule: { kind: 'every', everyMs: 10_000 } });
  await using scenario = await startScenario({ targets: [shop], downTakesMs: 3_000 });
  scenario.see('shop', 'd');
  await scenario.clock.advance(60_000);
  expect(scenario.runs.length).toBeGreaterThan(4);
  expect(new Set(times(scenario.runs).slice(1))).toEqual(new Set([10]));
});

test('of many rounds that are asked for, a target has one within three seconds besides its own, and each has its own name', async () => {
  await using scenario = await startScenario({
    targets: [
      target('router'),
      ...Array.from({ length: 30 }, (_, index) => target(`host${index}`, { dependsOn: ['router'] })),
    ],
  });
  for (let index = 0; index < 30; index += 1) scenario.see(`host${index}`, 'd');
  await scenario.clock.advance(120_000);
  const ofRouter = scenario.runs.filter(({ target: name }) => name === 'router');
  const within = (from: number) => ofRouter.filter(({ at }) => at >= from && at < from + 3_000).length;
  expect(Math.max(...ofRouter.map(({ at }) => within(at)))).toBeLessThanOrEqual(2);
  expect(ofRouter.length).toBeGreaterThan(3);
  const names = scenario.store.records
    .filter(({ votes }) => votes.length > 0)
    .map((one) => `${one.target} ${one.dueAt}`);
  expect(new Set(names).size).toBe(names.length);
  expect(names.length).toBeGreaterThan(60);
});

test('a node whose votes do not count is unknown in the vote table, with the reason; its results are stored as they are', async () => {
  await using scenario = await startScenario({ targets: ['a', 'b', 'c'].map((name) => target(name)) });
  scenario.see('*', 'udu');
  await scenario.clock.advance(180_000);
  scenario.see('a', 'ddd');
  await scenario.clock.advance(120_000);
  const incident = [...scenario.store.incidents.values()].find((one) => one.target === 'a');
  expect(incident?.votes.map(({ node, status, code }) => `${node} ${status} ${code}`)).toEqual([
    'de1 down refused',
    'us1 unknown suspected',
    'jp1 down refused',
  ]);
  const last = scenario.store.records.findLast((one) => one.target === 'a');
  expect(last?.votes.map(({ outcome }) => outcome)).toEqual([down(), down(), down()]);
});

test('the timeline tells how the verdict went', async () => {
  await using scenario = await startScenario({ targets: [target('shop'), target('blog')] });
  for (const signs of ['d', 'ddu', 'duu', 'x', 'd', 'u', 'u']) {
    scenario.see('shop', signs);
    await scenario.clock.advance(60_000);
  }
  const [incident] = scenario.store.incidents.values();
  expect(incident?.timeline.map(({ status, up, down, unknown }) => [status, up, down, unknown])).toEqual([
    ['down', 0, 3, 0],
    ['partial', 2, 1, 0],
    ['unknown', 0, 0, 3],
    ['down', 0, 3, 0],
    ['up', 3, 0, 0],
  ]);
});

test('what is held back says why, and a monitor that stops leaves no timer behind', async () => {
  const scenario = await startScenario({
    targets: [target('router'), target('shop', { dependsOn: ['router'] }), target('blog')],
  });
  scenario.see('router', 'd');
  scenario.see('shop', 'd');
  await scenario.clock.advance(120_000);
  expect(scenario.monitor.openIncidents().map(({ target: name, held }) => [name, held])).toEqual([
    ['router', null],
    ['shop', { by: 'dependency', why: 'depends on router, which is down' }],
  ]);
  scenario.monitor.silence({ id: 'a', targets: 'all', why: 'night', from: 0, until: scenario.clock.now() + 3_600_000 });
  await scenario.clock.advance(60_000);
  await scenario[Symbol.asyncDispose]();
  expect(scenario.clock.pending).toBe(0);
});
