import { expect, test } from 'vitest';
import type { Objective } from '#history/reader.ts';
import { dayMs } from '#kernel/units.ts';
import { type Row, rule, type Scenario, startScenario, target } from '../../../support/scenario.ts';

const objective: Objective = { ratio: 0.99, overMs: 30 * dayMs };
const fast = rule('burn', { budget: 'fast', rounds: 1, recover: 1 });
const slow = rule('burn', { budget: 'slow', rounds: 1, recover: 1 });
const start = '2026-01-01T00:00:00Z';

/** Down for a minute of each hour: 1.67 times what an objective of 99% allows. */
const aMinuteOfEachHour = (at: number) => (Math.floor(at / 60_000) % 60 === 0 ? 'd' : 'u');

// 99% over 30 days: 8m 38s of an hour and 43 s of five minutes, 21m 36s of six hours, 43m 12s of three days.
test.each<{ name: string; rules?: readonly ReturnType<typeof rule>[]; rows: readonly Row[] }>([
  {
    name: 'an outage is told once it has spent 2% of the budget, and is over soon after it ends',
    rows: [
      { minute: 60, see: { shop: 'd' } },
      {
        minute: 68,
        tell: ['BUDGET shop'],
        mails: [expect.stringMatching(/^\[BUDGET\] shop: burn rate 1[45]/)] as never,
      },
      { minute: 72, see: { shop: 'u' } },
      { minute: 75, tell: ['RESOLVED shop'] },
      { minute: 90 },
    ],
  },
  {
    name: 'short outages that no other rule would tell add up',
    rows: [
      ...Array.from({ length: 8 }, (_, index) => [
        { minute: 60 + index * 6, see: { shop: 'd' } },
        { minute: 61 + index * 6, see: { shop: 'u' } },
      ]).flat(),
      { minute: 108, see: { shop: 'd' }, tell: [] },
      { minute: 109, see: { shop: 'u' }, tell: ['BUDGET shop', 'RESOLVED shop'] },
      { minute: 120 },
    ],
  },
  {
    name: 'what nobody can judge and what is partly seen spends nothing',
    rows: [
      { minute: 60, see: { shop: 'x' } },
      { minute: 120, see: { shop: 'duu' } },
      { minute: 180, see: { shop: 'u' } },
      { minute: 200 },
    ],
  },
  {
    name: 'a rule about slow burn says nothing of an outage of a quarter of an hour',
    rules: [slow],
    rows: [{ minute: 60, see: { shop: 'd' } }, { minute: 75, see: { shop: 'u' } }, { minute: 100 }],
  },
])('$name', async ({ rows, rules = [fast] }) => {
  await using scenario = await startScenario({
    start,
    targets: [target('shop', { objective, rules }), target('blog')],
  });
  await scenario.play(rows);
});

test('what is spent over days is told by a rule about slow burn, and by none about fast burn', async () => {
  await using scenario = await startScenario({
    start,
    nodes: ['de1'],
    targets: [target('shop', { objective, rules: [slow, { ...fast, name: 'fast' }] }), target('blog')],
  });
  await play(scenario, 42 * 60);
  expect(scenario.store.deliveries).toEqual([]);
  await play(scenario, 4 * 60);
  expect([...scenario.store.incidents.values()]).toMatchObject([
    {
      rule: 'burn',
      cause: expect.stringMatching('burn rate 1.02: down for 44m of 3d; 89% of the budget of 99% over 30d is left'),
    },
  ]);
});

test('nothing is spent in maintenance', async () => {
  const from = Date.parse(start);
  await using scenario = await startScenario({
    start,
    targets: [target('shop', { objective, rules: [fast] }), target('blog')],
    maintenance: [{ targets: ['shop'], time: { kind: 'once', from, to: from + 3_600_000 } }],
  });
  await scenario.play([{ minute: 1, see: { shop: 'd' } }, { minute: 60, see: { shop: 'u' } }, { minute: 120 }]);
  expect(scenario.monitor.budgets()).toMatchObject([{ target: 'shop', spentMs: 0, left: 1 }]);
});

test('a mail about the target says what is left of its budget when it is sent', async () => {
  let scenario: Scenario | null = null;
  await using playing = await startScenario({
    start,
    targets: [target('shop', { objective }), target('blog')],
    outbox: { budgetOf: ({ target: name }) => scenario?.monitor.budgets(name)[0] ?? null },
  });
  scenario = playing;
  await playing.play([
    { minute: 60, see: { shop: 'd' }, tell: ['DOWN shop'] },
    { minute: 70, see: { shop: 'u' }, tell: ['RESOLVED shop'] },
    { minute: 75 },
  ]);
  const facts = playing.channel.attempts.map(
    ({ message }) => Object.fromEntries(message.content.facts)['Error budget'],
  );
  expect(facts).toEqual([
    expect.stringMatching(/^99% left of 99% over 30d: \d+s of 7h 12m spent$/),
    expect.stringMatching(/^97% left of 99% over 30d: 1[01]m( \d+s)? of 7h 12m spent$/),
  ]);
});

test('a restart, and an objective that comes with a reload, count what was spent before', async () => {
  await using scenario = await startScenario({
    start,
    targets: [target('shop', { objective, rules: [fast] }), target('blog')],
  });
  await scenario.play([{ minute: 60, see: { shop: 'd' } }, { minute: 66, see: { shop: 'u' } }, { minute: 70 }]);
  const [before] = scenario.monitor.budgets('shop');
  expect(before?.spentMs).toBe(6 * 60_000);
  await scenario.restart();
  expect(scenario.monitor.budgets('shop')).toEqual([before]);
  await scenario.play([{ minute: 80, see: { shop: 'd' } }, { minute: 82, tell: ['BUDGET shop'] }, { minute: 85 }]);
  await scenario.apply({ targets: [target('shop', { objective: null, rules: [] }), target('blog')] });
  expect(scenario.monitor.budgets()).toEqual([]);
  await scenario.apply({
    targets: [target('shop', { objective: { ...objective, overMs: 7 * dayMs }, rules: [fast] }), target('blog')],
  });
  expect(scenario.monitor.budgets('shop')[0]?.spentMs).toBeGreaterThan(6 * 60_000);
});

async function play(scenario: Scenario, minutes: number): Promise<void> {
  for (let done = 0; done < minutes; done += 1) {
    scenario.see('shop', aMinuteOfEachHour(scenario.clock.now()));
    await scenario.clock.advance(60_000);
  }
}
