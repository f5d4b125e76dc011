import { expect, test } from 'vitest';
import { createExtraRounds } from '#monitor/watch/extra-rounds.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
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

const many = Array.from({ length: 200 }, (_, index) => `host${index}`);

test.each([
  { waitedMs: 0, most: 200, least: 200 },
  { waitedMs: 600, most: 110, least: 60 },
])(
  'if hundreds fail while results are read $waitedMs ms late, four a second are made sure of, and the others by their next rounds',
  async ({ waitedMs, most, least }) => {
    const schedule = { kind: 'every', everyMs: 20_000 } as const;
    const targets = many.map((name) => target(name, { schedule }));
    await using scenario = await startScenario({ targets, waitedMs: () => waitedMs });
    scenario.see('*', 'd');
    await scenario.clock.advance(41_000);
    const between = many.filter((name) => {
      const gaps = times(scenario.runs.filter(({ target: of }) => of === name)).slice(1);
      return gaps.some((seconds) => seconds < 20);
    });
    expect(between.length).toBeGreaterThanOrEqual(least);
    expect(between.length).toBeLessThanOrEqual(most);
    expect(scenario.store.incidents.size).toBeGreaterThanOrEqual(many.length);
  },
);

test.each([
  { waitedMs: 0, most: 400, least: 200 },
  { waitedMs: 600, most: 100, least: 40 },
])(
  'of hundreds that depend on a target that is back, four a second are checked at once while results are read $waitedMs ms late',
  async ({ waitedMs, most, least }) => {
    let late = 0;
    const router = target('router', { schedule: { kind: 'every', everyMs: 5_000 } });
    const hosts = many.map((name) =>
      target(name, { dependsOn: ['router'], rules: [rule('down', { confirm: false })] }),
    );
    await using scenario = await startScenario({ targets: [router, ...hosts], waitedMs: () => late });
    scenario.see('*', 'd');
    await scenario.clock.advance(240_000);
    late = waitedMs;
    scenario.see('router', 'u');
    const isOpen = (name: string) => scenario.monitor.openIncidents().some(({ target: of }) => of === name);
    while (isOpen('router')) await scenario.clock.advance(1_000);
    const before = scenario.runs.length;
    await scenario.clock.advance(11_000);
    const after = scenario.runs.slice(before).filter(({ target: of }) => of !== 'router');
    expect(after.length).toBeGreaterThanOrEqual(least);
    expect(after.length).toBeLessThanOrEqual(most);
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

test('a target is checked when the suppression has ended, although its timer came early', async () => {
  const clock = new FakeClock();
  const early = {
    now: () => Math.floor(clock.now()),
    elapsed: () => clock.elapsed(),
    after: (ms: number, action: () => void) => clock.after(Math.max(0, ms - 0.7), action),
  };
  const end = clock.now() + 60_000;
  const requested: number[] = [];
  using rounds = createExtraRounds({
    clock: early,
    runner: { waitedMs: () => 0 },
    doubt: { witnesses: () => [], wantsWitnesses: () => false },
    heldUntil: (_, now) => (now < end ? end : null),
    request: () => void requested.push(early.now() - end),
  });
  rounds.askAgain('shop');
  await clock.advance(120_000);
  expect(requested).toEqual([0]);
});
