import { expect, test } from 'vitest';
import { failed, failure } from '#checks/index.ts';
import { Rule } from '#monitor/judge/rule.ts';
import { rule, type Scenario, startScenario, target } from '../../../support/scenario.ts';
import { up } from '../../../support/votes.ts';

// Days on which everything happens at once. Each of them once ended in mails that were false, late or missing.

const sixty = Array.from({ length: 60 }, (_, index) => `t${index}`);
const every = (seconds: number) => ({ schedule: { kind: 'every', everyMs: seconds * 1_000 } }) as const;

const toldOf = (scenario: Scenario) =>
  scenario.store.deliveries.map(
    ({ kind, incidentId }) => `${kind} ${scenario.store.incidents.get(incidentId)?.target}`,
  );

test.each([20, 60])(
  'an uplink that returns brings no outage of a healthy target, checked every %i s',
  async (seconds) => {
    for (const lostMs of [45_000, 300_000, 3_600_000]) {
      await using scenario = await startScenario({
        targets: sixty.map((name) => target(name, every(seconds))),
        downTakesMs: 10_000,
      });
      await scenario.clock.advance(200_000);
      scenario.see('*', 'd');
      scenario.cutOff(true);
      await scenario.clock.advance(lostMs);
      scenario.see('*', 'u');
      scenario.cutOff(false);
      await scenario.clock.advance(600_000);
      expect(toldOf(scenario).filter((told) => !told.endsWith('own connectivity'))).toEqual([]);
    }
  },
);

test('routes that come back in steps bring no outage of a healthy target', async () => {
  await using scenario = await startScenario({
    targets: sixty.map((name) => target(name, every(20))),
    downTakesMs: 10_000,
  });
  await scenario.clock.advance(100_000);
  scenario.see('*', 'd');
  for (const name of sixty) scenario.see(name, 'd');
  await scenario.clock.advance(300_000);
  for (let step = 0; step < 6; step += 1) {
    for (const name of sixty.slice(step * 10, step * 10 + 10)) scenario.see(name, 'u');
    await scenario.clock.advance(3_000);
  }
  await scenario.clock.advance(600_000);
  expect(toldOf(scenario)).toEqual(['opened own connectivity', 'resolved own connectivity']);
});

const noLink = failed(failure('node', 'local', "the link of this node's interface is down"));

const lateAndNoLink = failed(failure('node', 'local', "the link of this node's interface is down"), {
  facts: { node_lag: 0.03 },
});

test.each([
  ['a node', noLink],
  ['a node that is late itself', lateAndNoLink],
])(
  'a link of %s that is gone for a moment is followed by the same time of return, also with one round',
  async (_, lost) => {
    const quick = [rule('down', { rounds: 1 })];
    await using scenario = await startScenario({
      nodes: ['de1'],
      targets: sixty.slice(0, 12).map((name) => target(name, { ...every(5), rules: quick })),
    });
    await scenario.clock.advance(100_000);
    for (const name of sixty) scenario.see(name, lost);
    await scenario.clock.advance(8_000);
    // The link is back, and so are some routes; others come seconds later.
    for (const [index, name] of sixty.entries()) scenario.see(name, index < 4 ? 'u' : 'd');
    await scenario.clock.advance(10_000);
    for (const name of sixty) scenario.see(name, 'u');
    await scenario.clock.advance(300_000);
    expect(toldOf(scenario).filter((told) => !told.endsWith('own connectivity'))).toEqual([]);
  },
);

test('answers over a path that has just come back do not make a target slow', async () => {
  const slow = rule('slow', { latency: { above: '1s', window: '30s' } });
  await using scenario = await startScenario({
    nodes: ['de1'],
    targets: sixty.slice(0, 12).map((name) => target(name, { ...every(10), rules: [rule('down'), slow] })),
  });
  await scenario.clock.advance(100_000);
  for (const name of sixty) scenario.see(name, noLink);
  await scenario.clock.advance(45_000);
  for (const name of sixty) scenario.see(name, up(3));
  await scenario.clock.advance(14_000);
  for (const name of sixty) scenario.see(name, name === 't7' ? up(3) : 'u');
  await scenario.clock.advance(300_000);
  expect(toldOf(scenario)).toEqual(['opened t7']);
});

test('what is down after a lost link is back is told after the time of return', async () => {
  await using scenario = await startScenario({
    nodes: ['de1'],
    targets: sixty.slice(0, 12).map((name) => target(name, every(5))),
  });
  await scenario.clock.advance(100_000);
  for (const name of sixty) scenario.see(name, noLink);
  await scenario.clock.advance(8_000);
  for (const name of sixty) scenario.see(name, name === 't7' ? 'd' : 'u');
  await scenario.clock.advance(40_000);
  expect(toldOf(scenario)).toEqual(['opened t7']);
});

test('a target that never had a route delays nothing of others', async () => {
  await using scenario = await startScenario({
    nodes: ['de1'],
    targets: [target('six', every(5)), target('shop', every(5)), target('blog', every(5))],
  });
  scenario.see('six', noLink);
  await scenario.clock.advance(100_000);
  scenario.see('shop', 'd');
  await scenario.clock.advance(12_000);
  expect(toldOf(scenario)).toEqual(['opened shop']);
});

test('what is still down when the uplink is back is told with what is seen then, from then on', async () => {
  await using scenario = await startScenario({ targets: sixty.map((name) => target(name, every(20))) });
  await scenario.clock.advance(100_000);
  scenario.see('*', 'd');
  scenario.cutOff(true);
  await scenario.clock.advance(600_000);
  const backAt = scenario.clock.now();
  scenario.see('*', 'u');
  scenario.cutOff(false);
  scenario.see('t7', 'ddu');
  await scenario.clock.advance(300_000);
  const incident = [...scenario.store.incidents.values()].find((one) => one.target === 't7');
  expect(incident?.startedAt).toBeGreaterThan(backAt);
  expect(incident?.votes.map(({ status }) => status)).toEqual(['down', 'down', 'up']);
  expect(toldOf(scenario).filter((told) => told.endsWith(' t7'))).toEqual(['opened t7']);
});

test('what is seen now of an open incident are the votes of the last round', async () => {
  await using scenario = await startScenario({ targets: [target('shop'), target('blog')] });
  await scenario.clock.advance(120_000);
  scenario.see('shop', 'ddd');
  await scenario.clock.advance(300_000);
  scenario.see('shop', 'ddu');
  await scenario.clock.advance(120_000);
  const incident = [...scenario.store.incidents.values()].find((one) => one.target === 'shop');
  if (incident === undefined) throw new Error('there is no incident');
  expect(incident.votes.map(({ status }) => status)).toEqual(['down', 'down', 'down']);
  expect(scenario.monitor.seenNow(incident)?.map(({ status }) => status)).toEqual(['down', 'down', 'up']);
});

test('a window of maintenance that ends is followed by as many failing rounds as the rule asks for', async () => {
  const start = '2026-01-01T00:00:00Z';
  const ends = Date.parse(start) + 600_000;
  await using scenario = await startScenario({
    start,
    targets: [target('shop', { rules: [rule('down', { rounds: 3, confirm: false })] }), target('blog')],
    maintenance: [{ targets: ['shop'], time: { kind: 'once', from: Date.parse(start), to: ends } }],
  });
  scenario.see('shop', 'd');
  await scenario.clock.advance(600_000);
  expect(toldOf(scenario)).toEqual([]);
  await scenario.clock.advance(300_000);
  expect(toldOf(scenario)).toEqual(['opened shop']);
  const toldAt = scenario.store.deliveries[0]?.createdAt ?? 0;
  const failed = scenario.runs.filter((run) => run.target === 'shop' && run.at >= ends && run.at <= toldAt);
  expect(failed).toHaveLength(3);
});

test('rounds that failed in a window of maintenance do not make a rule come true after it', async () => {
  const start = '2026-01-01T00:00:00Z';
  const ends = Date.parse(start) + 600_000;
  await using scenario = await startScenario({
    start,
    targets: [target('shop', { rules: [rule('down', { rounds: 3, confirm: false })] }), target('blog')],
    maintenance: [{ targets: ['shop'], time: { kind: 'once', from: Date.parse(start), to: ends } }],
  });
  // Two of three rounds fail before its end.
  await scenario.clock.advance(600_000 - 125_000);
  scenario.see('shop', 'd');
  await scenario.clock.advance(125_000);
  const before = scenario.runs.filter((run) => run.target === 'shop' && run.at >= ends - 120_000 && run.at < ends);
  expect(before).toHaveLength(2);
  await scenario.clock.advance(600_000);
  expect(toldOf(scenario)).toEqual(['opened shop']);
  const toldAt = scenario.store.deliveries[0]?.createdAt ?? 0;
  const failed = scenario.runs.filter((run) => run.target === 'shop' && run.at >= ends && run.at <= toldAt);
  expect(failed).toHaveLength(3);
});

test('rounds that failed while an outage above went on do not make a rule come true after it', async () => {
  const slowly = [rule('down', { rounds: 3, confirm: false })];
  await using scenario = await startScenario({
    targets: [target('router', every(10)), target('shop', { dependsOn: ['router'], rules: slowly }), target('blog')],
  });
  await scenario.clock.advance(300_000);
  scenario.see('router', 'd');
  await scenario.clock.advance(60_000);
  // Two rounds fail, and before the third one the router is well again.
  scenario.see('shop', 'd');
  const rounds = () => scenario.runs.filter((run) => run.target === 'shop').length;
  for (const until = rounds() + 2; rounds() < until;) await scenario.clock.advance(1_000);
  scenario.see('router', 'u');
  await scenario.clock.advance(600_000);
  const shop = [...scenario.store.incidents.values()].find((one) => one.target === 'shop');
  const toldAt = scenario.store.deliveries.find(({ incidentId }) => incidentId === shop?.id)?.createdAt ?? 0;
  const backAt = scenario.store.deliveries.find(({ kind }) => kind === 'resolved')?.createdAt ?? Number.NaN;
  const failed = scenario.runs.filter((run) => run.target === 'shop' && run.at >= backAt && run.at <= toldAt);
  expect(failed).toHaveLength(3);
});

test('a clock that was set back over a restart blinds nobody: rounds, states, incidents and mails go on', async () => {
  await using scenario = await startScenario({ targets: [target('shop'), target('blog')] });
  let looks = 0;
  const neverTheSame = () => up((looks += 1) / 1_000);
  for (const name of ['shop', 'blog']) scenario.see(name, neverTheSame);
  await scenario.clock.advance(3_600_000);
  const before = scenario.store.records.length;
  scenario.clock.step(-3_600_000);
  await scenario.restart();
  scenario.see('shop', 'd');
  await scenario.clock.advance(600_000);
  expect(toldOf(scenario)).toEqual(['opened shop']);
  scenario.see('shop', neverTheSame);
  await scenario.clock.advance(600_000);
  expect(toldOf(scenario)).toEqual(['opened shop', 'resolved shop']);
  expect(scenario.store.records.length - before).toBeGreaterThan(20);
  const names = scenario.store.records
    .filter(({ votes }) => votes.length > 0)
    .map((one) => `${one.target} ${one.dueAt}`);
  expect(new Set(names).size).toBe(names.length);
});

test.each([1, 3])(
  'an outage of a target that is checked every %i s is told once and ends, whatever rounds meet',
  async (seconds) => {
    await using scenario = await startScenario({
      targets: [
        target('router', every(seconds)),
        ...Array.from({ length: 10 }, (_, index) =>
          target(`host${index}`, { ...every(seconds), dependsOn: ['router'] }),
        ),
        target('blog', every(seconds)),
      ],
    });
    await scenario.clock.advance(60_000);
    for (let outage = 0; outage < 10; outage += 1) {
      for (let index = 0; index < 10; index += 1) scenario.see(`host${index}`, 'd');
      await scenario.clock.advance(60_000 + outage * 137);
      for (let index = 0; index < 10; index += 1) scenario.see(`host${index}`, 'u');
      await scenario.clock.advance(60_000);
    }
    const told = scenario.store.deliveries.map(({ kind, incidentId }) => `${kind} ${incidentId}`);
    expect(new Set(told).size).toBe(told.length);
    expect(told).toHaveLength(200);
    expect([...scenario.store.incidents.values()].filter(({ endedAt }) => endedAt === null)).toEqual([]);
  },
);

const blind: Rule = Rule.parse({ unknown: '15m' });
const withUnknown = (name: string) => target(name, { rules: [rule('down'), { name: 'unknown', rule: blind }] });
const noRight = failed(failure('node', 'unsupported', 'this node may not send pings'));
const serviceAway = failed(failure('service', 'service_unreachable', 'connect ECONNREFUSED 192.0.2.7:443'));

test('a target that no node can judge is told once as unknown, as a warning, and told to be seen again', async () => {
  await using scenario = await startScenario({ targets: [withUnknown('gateway'), withUnknown('blog')] });
  await scenario.clock.advance(60_000);
  scenario.see('gateway', noRight);
  await scenario.clock.advance(14 * 60_000);
  expect(toldOf(scenario)).toEqual([]);
  await scenario.clock.advance(3 * 60_000);
  expect(toldOf(scenario)).toEqual(['opened gateway']);
  const [incident] = scenario.store.incidents.values();
  expect(incident).toMatchObject({ rule: 'unknown', severity: 'warning', cause: 'this node may not send pings' });
  const written = scenario.store.records.filter(({ target: name, states }) => name === 'gateway' && states.length > 0);
  expect(written.length).toBeLessThanOrEqual(4);
  await scenario.clock.advance(86_400_000);
  expect(toldOf(scenario)).toEqual(['opened gateway']);
  scenario.see('gateway', 'u');
  await scenario.clock.advance(300_000);
  expect(toldOf(scenario)).toEqual(['opened gateway', 'resolved gateway']);
});

test('a target whose only node was revoked or renamed is notified once as unknown, and again when it has a node', async () => {
  const nodes = { kind: 'named', names: ['us1'] } as const;
  await using scenario = await startScenario({ targets: [{ ...withUnknown('shop'), nodes }, withUnknown('blog')] });
  await scenario.clock.advance(300_000);
  const [gone] = scenario.nodes.splice(1, 1);
  await scenario.clock.advance(17 * 60_000);
  expect(toldOf(scenario)).toEqual(['opened shop']);
  const [incident] = scenario.store.incidents.values();
  expect(incident).toMatchObject({ rule: 'unknown', severity: 'warning', cause: 'there is no node to check it' });
  if (gone !== undefined) scenario.nodes.push(gone);
  await scenario.clock.advance(300_000);
  expect(toldOf(scenario)).toEqual(['opened shop', 'resolved shop']);
});

test('a target whose nodes are too few for the quorum of its rule is notified once as unknown', async () => {
  const rules = [rule('down', { quorum: 3 }), { name: 'unknown', rule: blind }];
  await using scenario = await startScenario({ targets: [target('shop', { rules }), withUnknown('blog')] });
  await scenario.clock.advance(60_000);
  scenario.see('shop', 'dxd');
  await scenario.clock.advance(18 * 60_000);
  expect(toldOf(scenario)).toEqual(['opened shop']);
  expect([...scenario.store.incidents.values()][0]).toMatchObject({ rule: 'unknown' });
  scenario.see('shop', 'ddd');
  await scenario.clock.advance(5 * 60_000);
  expect(toldOf(scenario).toSorted()).toEqual(['opened shop', 'opened shop', 'resolved shop']);
});

test('a target is unknown no longer if one of its two nodes can judge it again', async () => {
  const targets = [withUnknown('shop'), withUnknown('blog')];
  await using scenario = await startScenario({ nodes: ['de1', 'us1'], targets });
  await scenario.clock.advance(60_000);
  scenario.see('shop', 'xx');
  await scenario.clock.advance(18 * 60_000);
  expect(toldOf(scenario)).toEqual(['opened shop']);
  scenario.see('shop', 'ux');
  await scenario.clock.advance(5 * 60_000);
  expect(toldOf(scenario)).toEqual(['opened shop', 'resolved shop']);
});

test('a check service that is away is told once, by its URL and its reason, instead of each target', async () => {
  await using scenario = await startScenario({
    service: 'https://checks.example.com',
    targets: sixty.slice(0, 10).map(withUnknown),
  });
  await scenario.clock.advance(60_000);
  for (const name of ['*', ...sixty]) scenario.see(name, serviceAway);
  await scenario.clock.advance(3_600_000);
  expect(toldOf(scenario)).toEqual(['opened own check service']);
  const told = [...scenario.store.incidents.values()].find((one) => one.target === 'own check service');
  expect(told?.subject).toBe('the check service https://checks.example.com');
  expect(told?.cause).toContain('ECONNREFUSED');
  await scenario.restart();
  await scenario.clock.advance(600_000);
  expect(toldOf(scenario)).toEqual(['opened own check service']);
  for (const name of ['*', ...sixty]) scenario.see(name, 'u');
  await scenario.clock.advance(600_000);
  expect(toldOf(scenario)).toEqual(['opened own check service', 'resolved own check service']);
});
