import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { failed, failure } from '#checks/index.ts';
import { Rule } from '#monitor/judge/rule.ts';
import { plainPolicy } from '#monitor/notify/delivery-policy.ts';
import { rule, type Scenario, startScenario, target } from '../../../support/scenario.ts';

// A doubt about ourselves holds a notification back for minutes at most: then it goes out with the doubt in it.

const many = (count: number) => Array.from({ length: count }, (_, index) => `t${index}`);
const told = (scenario: Scenario) =>
  scenario.store.deliveries.map(
    ({ kind, incidentId }) => `${kind} ${scenario.store.incidents.get(incidentId)?.target}`,
  );
const openedAt = (scenario: Scenario, name: string) => {
  const incident = [...scenario.store.incidents.values()].find((one) => one.target === name);
  const told = scenario.store.deliveries.find(({ incidentId }) => incidentId === incident?.id);
  if (incident === undefined || told === undefined) throw new Error(`${name} was not notified`);
  return { incident, lateMs: told.createdAt - incident.openedAt };
};
const grouped = { outbox: { policyOf: () => ({ ...plainPolicy, storm: null }) } };

test('what lost connectivity holds back is one message after five minutes, with the doubt in it', async () => {
  await using scenario = await startScenario({ targets: many(12).map((name) => target(name)), ...grouped });
  await scenario.clock.advance(300_000);
  scenario.see('*', 'd');
  await scenario.clock.advance(240_000);
  expect(told(scenario)).toEqual(['opened own connectivity']);
  await scenario.clock.advance(180_000);
  expect(told(scenario).slice(1).toSorted()).toEqual(
    many(12)
      .map((name) => `opened ${name}`)
      .toSorted(),
  );
  expect(Math.max(...many(12).map((name) => openedAt(scenario, name).lateMs))).toBeLessThanOrEqual(306_000);
  expect(scenario.channel.subjects).toEqual([
    expect.stringMatching(/^\[OFFLINE\] network connectivity/),
    '[DOWN] 12 targets are down, or this Watchpost is cut off: t0, t1, t2, t3, t4 and 7 more'.replace(
      't0, t1, t2, t3, t4',
      openersOf(scenario),
    ),
  ]);
  const [, mail] = scenario.channel.attempts;
  expect(mail?.message.content.remarks[0]).toMatch(
    /^In doubt: no other target has been seen up since 2026-01-01 00:0\d/,
  );
  const { incident } = openedAt(scenario, 't3');
  expect(incident).toMatchObject({ held: null, lateReason: 'it was held back: our own connectivity is lost' });
  // What is still down when the doubt is over is not told again, and what is up is told to be.
  scenario.see('*', 'u');
  scenario.see('t3', 'd');
  await scenario.clock.advance(600_000);
  const after = told(scenario).slice(13);
  expect(after.toSorted()).toEqual(
    [
      'resolved own connectivity',
      ...many(12)
        .filter((name) => name !== 't3')
        .map((name) => `resolved ${name}`),
    ].toSorted(),
  );
});

function openersOf(scenario: Scenario): string {
  const incidents = [...scenario.store.incidents.values()].filter(({ target: name }) => name.startsWith('t'));
  return incidents
    .toSorted((a, b) => a.startedAt - b.startedAt)
    .slice(0, 5)
    .map(({ target: name }) => name)
    .join(', ');
}

test('it comes also if no more rounds do, and after a restart', async () => {
  await using scenario = await startScenario({
    targets: many(4).map((name) => target(name, { schedule: { kind: 'every', everyMs: 3_600_000 } })),
  });
  await scenario.clock.advance(3_600_000);
  scenario.see('*', 'd');
  await scenario.clock.advance(3_600_000);
  const incident = [...scenario.store.incidents.values()].find(({ target: name }) => name === 't0');
  expect(incident?.held).toBe(null);
  expect(told(scenario).filter((one) => one.startsWith('opened t')).length).toBe(4);
  for (const name of many(4)) expect(openedAt(scenario, name).lateMs).toBeLessThanOrEqual(306_000);
});

test('the time that was waited counts over a restart', async () => {
  await using scenario = await startScenario({ targets: many(4).map((name) => target(name)) });
  await scenario.clock.advance(300_000);
  scenario.see('*', 'd');
  await scenario.clock.advance(240_000);
  expect(told(scenario)).toEqual(['opened own connectivity']);
  await scenario.restart();
  await scenario.clock.advance(130_000);
  expect(told(scenario).slice(1).toSorted()).toEqual(many(4).map((name) => `opened ${name}`));
});

test('warnings wait three times as long, and another limit can be set', async () => {
  const warning = [rule('down', { severity: 'warning' })];
  await using scenario = await startScenario({ targets: many(4).map((name) => target(name, { rules: warning })) });
  await scenario.apply({ doubtLimitMs: 120_000 });
  await scenario.clock.advance(300_000);
  scenario.see('*', 'd');
  await scenario.clock.advance(300_000);
  expect(told(scenario)).toEqual(['opened own connectivity']);
  await scenario.clock.advance(180_000);
  expect(told(scenario).length).toBe(5);
});

test.each([400_000, 7_200_000])(
  'an uplink that is gone for %i ms, with which the mail server is gone, is one honest message, and no target is told',
  async (lostMs) => {
    await using scenario = await startScenario({ targets: many(40).map((name) => target(name)), ...grouped });
    await scenario.clock.advance(300_000);
    scenario.see('*', 'd');
    scenario.cutOff(true);
    await scenario.clock.advance(lostMs);
    scenario.see('*', 'u');
    scenario.cutOff(false);
    const before = scenario.channel.attempts.length;
    await scenario.clock.advance(900_000);
    expect(told(scenario)).toEqual(['opened own connectivity', 'resolved own connectivity']);
    const subjects = scenario.channel.subjects.slice(before);
    expect(subjects.length).toBeLessThanOrEqual(2);
    for (const subject of subjects) expect(subject).toContain('network connectivity');
  },
);

test('what is down when mails get through again is told then', async () => {
  await using scenario = await startScenario({ targets: many(6).map((name) => target(name)) });
  await scenario.clock.advance(300_000);
  scenario.see('*', 'd');
  scenario.cutOff(true);
  await scenario.clock.advance(1_200_000);
  expect(told(scenario)).toEqual(['opened own connectivity']);
  // The mail server is back, and everything else is down for a reason of its own.
  scenario.cutOff(false);
  await scenario.clock.advance(180_000);
  expect(told(scenario).slice(1).toSorted()).toEqual(many(6).map((name) => `opened ${name}`));
});

test('a DOWN in doubt that could not leave before it was over says "down or unreachable"', async () => {
  const mailed = { notify: 'ops', channel: 'email', recipient: 'ops@example.com', severities: ['critical'] } as const;
  await using scenario = await startScenario({
    targets: many(3).map((name) => target(name, { recipients: [mailed] })),
    outbox: { policyOf: () => ({ ...plainPolicy, grouping: { waitMs: 120_000, intervalMs: 0 } }) },
  });
  await scenario.clock.advance(300_000);
  scenario.see('*', 'd');
  await scenario.clock.advance(345_000);
  expect(told(scenario).length).toBe(4);
  scenario.see('*', 'u');
  await scenario.clock.advance(600_000);
  expect(scenario.channel.subjects.at(-1)).toMatch(/3 targets were down or unreachable and are up again/);
});

test('a target behind one that fails and is never reported is told after the limit, with why', async () => {
  // One failing round of two again and again: the router never opens an incident.
  await using scenario = await startScenario({
    targets: [
      target('router', { rules: [rule('down', { rounds: 9, confirm: false })] }),
      target('shop', { dependsOn: ['router'] }),
      target('blog'),
    ],
  });
  await scenario.clock.advance(300_000);
  scenario.see('router', 'd');
  scenario.see('shop', 'd');
  await scenario.clock.advance(420_000);
  expect(told(scenario)).toEqual(['opened shop']);
  expect(scenario.channel.subjects[0]).toContain('or it cannot be reached');
  expect(openedAt(scenario, 'shop').incident.doubt?.why).toBe('depends on router, which is down');
});

test('what a reported dependency, maintenance or a silence holds back is no doubt', async () => {
  await using scenario = await startScenario({
    targets: [target('router'), target('shop', { dependsOn: ['router'] }), target('wiki'), target('blog')],
  });
  await scenario.clock.advance(300_000);
  const until = scenario.clock.now() + 7_200_000;
  scenario.monitor.silence({ id: 'a', targets: ['wiki'], why: 'we know', from: 0, until });
  for (const name of ['router', 'shop', 'wiki']) scenario.see(name, 'd');
  await scenario.clock.advance(7_000_000);
  expect(told(scenario)).toEqual(['opened router']);
});

test('what was held back by something that is over, and is not checked any more, is told after the limit', async () => {
  await using scenario = await startScenario({ targets: [target('shop'), target('blog')] });
  await scenario.clock.advance(300_000);
  const until = scenario.clock.now() + 600_000;
  scenario.monitor.silence({ id: 'a', targets: ['shop'], why: 'we know', from: 0, until });
  scenario.see('shop', 'd');
  await scenario.clock.advance(500_000);
  // From now on nobody can say anything about it.
  scenario.see('shop', 'x');
  await scenario.clock.advance(100_000);
  expect(told(scenario)).toEqual([]);
  await scenario.clock.advance(320_000);
  expect(told(scenario)).toEqual(['opened shop']);
  expect(openedAt(scenario, 'shop').incident.doubt?.or).toBe('it is up again');
});

test('a dependency that a doubt holds back ends with it', async () => {
  await using scenario = await startScenario({
    targets: [target('router'), target('shop', { dependsOn: ['router'] }), target('blog'), target('wiki')],
  });
  await scenario.clock.advance(300_000);
  scenario.see('*', 'd');
  await scenario.clock.advance(420_000);
  expect(told(scenario)).toContain('opened router');
  expect(told(scenario)).toContain('opened blog');
});

test('a target that only a suspected node sees is told after the limit, with why', async () => {
  const far = { nodes: { kind: 'named', names: ['us1'] } } as const;
  await using scenario = await startScenario({
    targets: [
      ...many(10).map((name) => target(name)),
      target('shop', { ...far, schedule: { kind: 'every', everyMs: 200_000 } }),
    ],
  });
  await scenario.clock.advance(300_000);
  for (const name of many(10)) scenario.see(name, 'udu');
  await scenario.clock.advance(200_000);
  expect(told(scenario)).toEqual(['opened node us1']);
  scenario.see('shop', 'ddd');
  await scenario.clock.advance(900_000);
  expect(told(scenario)).toEqual(['opened node us1', 'opened shop']);
  const [node, shop] = scenario.store.deliveries;
  expect((shop?.createdAt ?? 0) - (node?.createdAt ?? 0)).toBeGreaterThan(200_000);
  expect(scenario.channel.subjects[1]).toContain('or its nodes are at fault');
});

test('a check service that is away and never told of is a doubt about what cannot be judged', async () => {
  const unknown = { name: 'unknown', rule: Rule.parse({ unknown: '2m' }) };
  const away = failed(failure('service', 'service_unreachable', 'connect ECONNREFUSED 192.0.2.7:443'));
  await using scenario = await startScenario({
    service: 'https://checks.example.com',
    targets: ['a', 'b'].map((name) => target(name, { rules: [rule('down'), unknown] })),
  });
  await scenario.apply({ unknownAfterMs: null });
  await scenario.clock.advance(60_000);
  for (const name of ['*', 'a', 'b']) scenario.see(name, away);
  await scenario.clock.advance(900_000);
  expect(told(scenario)).toEqual([]);
  await scenario.clock.advance(300_000);
  expect(told(scenario).toSorted()).toEqual(['opened a', 'opened b']);
});

const Step = fc.record({
  minutes: fc.integer({ min: 1, max: 14 }),
  down: fc.uniqueArray(fc.integer({ min: 0, max: 5 })),
  restarts: fc.boolean(),
});

test('whatever fails and comes back, and whoever restarts, an outage of twelve minutes is notified', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(Step, { minLength: 1, maxLength: 6 }), async (steps) => {
      await using scenario = await startScenario({
        targets: many(6).map((name) => target(name, { dependsOn: name === 't5' ? ['t4'] : [] })),
      });
      await scenario.clock.advance(180_000);
      const minutesDown = new Map<string, number>();
      for (const { minutes, down, restarts } of steps) {
        const failing = new Set(down.map((index) => `t${index}`));
        for (const name of many(6)) scenario.see(name, failing.has(name) ? 'd' : 'u');
        if (restarts) await scenario.restart();
        for (let minute = 0; minute < minutes; minute += 1) {
          await scenario.clock.advance(60_000);
          for (const name of many(6)) {
            // What stands behind one that was notified is explained by it.
            const isCounted = failing.has(name) && !(name === 't5' && failing.has('t4'));
            minutesDown.set(name, isCounted ? (minutesDown.get(name) ?? 0) + 1 : 0);
            if ((minutesDown.get(name) ?? 0) < 12) continue;
            const open = scenario.monitor.openIncidents().filter((one) => one.target === name);
            expect(open.map(({ held }) => held)).toEqual([null]);
          }
        }
      }
    }),
    { numRuns: 60 },
  );
});
