import { describe, expect, test } from 'vitest';
import { CheckSpec, type Outcome } from '#checks/index.ts';
import type { Target } from '#monitor/judge/target.ts';
import {
  type Row,
  rule,
  type Scenario,
  type ScenarioOptions,
  startScenario,
  target,
} from '../../../support/scenario.ts';
import { incident } from '../../../support/store.ts';
import { up } from '../../../support/votes.ts';

interface Case {
  readonly name: string;
  readonly with?: Partial<ScenarioOptions>;
  readonly rows: readonly Row[];
}

const restart = async (scenario: Scenario) => scenario.restart();
const shop = target('shop');
const blog = target('blog');
const boss = {
  notify: 'boss',
  channel: 'email',
  recipient: 'boss@example.com',
  severities: ['critical'],
} as const;

test.each<Case>([
  {
    name: 'a restart while all is well tells nobody',
    rows: [{ minute: 0 }, { minute: 5, also: restart }, { minute: 10 }],
  },
  {
    name: 'a restart between a failing round and the one that makes sure loses nothing',
    with: { targets: [target('shop', { rules: [rule('down', { confirm: false })] })] },
    rows: [
      { minute: 0 },
      { minute: 5, see: { shop: 'd' } },
      { minute: 6, also: restart, tell: ['DOWN shop'] },
      { minute: 8 },
    ],
  },
  {
    name: 'a restart in mid-incident neither tells it again nor forgets its end',
    rows: [
      { minute: 0 },
      { minute: 5, see: { shop: 'd' }, tell: ['DOWN shop'] },
      { minute: 10, also: restart },
      { minute: 20, also: restart },
      { minute: 30, see: { shop: 'u' }, tell: ['RESOLVED shop'] },
      { minute: 40 },
    ],
  },
  {
    name: 'a restart in the middle of a recovery',
    with: { targets: [target('shop', { rules: [rule('down', { recover: 3 })] })] },
    rows: [
      { minute: 0 },
      { minute: 5, see: { shop: 'd' }, tell: ['DOWN shop'] },
      { minute: 10, see: { shop: 'u' } },
      { minute: 12, also: restart, tell: ['RESOLVED shop'] },
      { minute: 15 },
    ],
  },
  {
    name: 'a restart while something is held back',
    with: {
      maintenance: [{ targets: 'all', time: { kind: 'once', from: 0, to: Date.parse('2026-01-01T00:30:00Z') } }],
    },
    rows: [
      { minute: 0 },
      { minute: 5, see: { shop: 'd' } },
      { minute: 10, also: restart },
      { minute: 29.9, tell: ['DOWN shop'] },
      { minute: 32 },
    ],
  },
  {
    name: 'a restart while a node is suspected',
    with: { targets: ['a', 'b', 'c'].map((name) => target(name)) },
    rows: [
      { minute: 0 },
      { minute: 5, see: { '*': 'udu' }, tell: ['SUSPECT node us1'] },
      { minute: 20, also: restart },
      { minute: 30, see: { '*': 'u' }, tell: ['RESOLVED node us1'] },
      { minute: 40 },
    ],
  },
  {
    name: 'a restart knows how slow it was: the window is filled from the store',
    with: {
      targets: [
        target('shop', {
          rules: [
            rule('slow', { latency: { above: '800ms', statistic: 'p50', window: '20m' }, rounds: 1, recover: 1 }),
          ],
        }),
      ],
    },
    rows: [
      { minute: 0, see: { shop: '1' } },
      { minute: 20, see: { shop: '9' } },
      { minute: 25, also: restart },
      { minute: 29, tell: ['SLOW shop'] },
      { minute: 32 },
    ],
  },
  {
    name: 'a reload that changes nothing disturbs nothing',
    rows: [
      { minute: 0 },
      { minute: 5, see: { shop: 'd' }, tell: ['DOWN shop'] },
      { minute: 10, also: async (scenario) => scenario.apply({ targets: [target('shop')] }) },
      { minute: 20, see: { shop: 'u' }, tell: ['RESOLVED shop'] },
      { minute: 30 },
    ],
  },
  {
    name: 'a reload in mid-incident that changes the target keeps the incident, tells a new recipient of it, and its end to all who were told',
    rows: [
      { minute: 0 },
      { minute: 5, see: { shop: 'd' }, tell: ['DOWN shop'] },
      {
        minute: 10,
        also: async (scenario) => {
          const schedule = { kind: 'every', everyMs: 30_000 } as const;
          await scenario.apply({ targets: [target('shop', { schedule, recipients: [boss] })] });
        },
        tell: ['DOWN shop'],
      },
      { minute: 20, see: { shop: 'u' }, tell: ['RESOLVED shop'] },
      {
        minute: 30,
        also: ({ store }) => {
          expect(store.deliveries.map(({ kind, recipient }) => `${kind} ${recipient}`)).toEqual([
            'opened ops@example.com',
            'opened boss@example.com',
            'resolved ops@example.com',
            'resolved boss@example.com',
          ]);
        },
      },
    ],
  },
  {
    name: 'a target that is added is watched, and others are not disturbed',
    rows: [
      { minute: 0 },
      {
        minute: 5,
        see: { blog: 'd' },
        also: async (scenario) => scenario.apply({ targets: [shop, blog] }),
        tell: ['DOWN blog'],
      },
      { minute: 10 },
    ],
  },
  {
    name: 'a target that is removed in mid-incident is told not to be monitored any more',
    with: { targets: [shop, blog] },
    rows: [
      { minute: 0 },
      { minute: 5, see: { shop: 'd' }, tell: ['DOWN shop'] },
      { minute: 10, also: async (scenario) => scenario.apply({ targets: [blog] }), tell: ['CLOSED shop'] },
      { minute: 20, also: async (scenario) => scenario.apply({ targets: [blog, shop] }), tell: ['DOWN shop'] },
      { minute: 30 },
    ],
  },
  {
    name: 'a target that is removed while its incident is held back is told to nobody',
    with: {
      targets: [shop, blog],
      maintenance: [{ targets: 'all', time: { kind: 'once', from: 0, to: Date.parse('2027-01-01T00:00:00Z') } }],
    },
    rows: [
      { minute: 0 },
      { minute: 5, see: { shop: 'd' } },
      { minute: 10, also: async (scenario) => scenario.apply({ targets: [blog] }) },
      { minute: 20 },
    ],
  },
  {
    name: 'a target that is gone after a restart is told not to be monitored any more',
    with: { targets: [shop, blog] },
    rows: [
      { minute: 0 },
      { minute: 5, see: { shop: 'd' }, tell: ['DOWN shop'] },
      { minute: 10, also: async (scenario) => scenario.restart({ targets: [blog] }), tell: ['CLOSED shop'] },
      { minute: 20 },
    ],
  },
  {
    name: 'a rule that is removed in mid-incident closes it; the other rule goes on',
    with: { targets: [target('shop', { rules: [rule('down'), rule('any', { failing: 'any', severity: 'info' })] })] },
    rows: [
      { minute: 0 },
      { minute: 5, see: { shop: 'd' }, tell: ['DOWN shop'] },
      { minute: 10, also: async (scenario) => scenario.apply({ targets: [shop] }), tell: ['CLOSED shop'] },
      { minute: 20, see: { shop: 'u' }, tell: ['RESOLVED shop'] },
      { minute: 30 },
    ],
  },
  {
    name: 'a rule that becomes one of another kind closes what it had open',
    rows: [
      { minute: 0 },
      { minute: 5, see: { shop: 'd' }, tell: ['DOWN shop'] },
      {
        minute: 10,
        also: async (scenario) =>
          scenario.apply({ targets: [target('shop', { rules: [rule('down', { latency: { above: '1s' } })] })] }),
        tell: ['CLOSED shop'],
      },
      { minute: 20 },
    ],
  },
  {
    name: 'a target that moves to another host in mid-incident keeps it',
    rows: [
      { minute: 0 },
      { minute: 5, see: { shop: 'd' }, tell: ['DOWN shop'] },
      {
        minute: 10,
        see: { shop: 'u' },
        also: async (scenario) =>
          scenario.apply({
            targets: [target('shop', { spec: CheckSpec.parse({ type: 'tcp', host: 'new.example.com:443' }) })],
          }),
        tell: ['RESOLVED shop'],
      },
      { minute: 20 },
    ],
  },
  {
    name: 'a wall clock that is set forwards in mid-incident changes nothing that is told',
    rows: [
      { minute: 0 },
      { minute: 5, see: { shop: 'd' }, tell: ['DOWN shop'] },
      { minute: 10, also: ({ clock }) => clock.step(86_400_000) },
      { minute: 12 },
    ],
  },
])('$name', async ({ rows, with: options }) => {
  await using scenario = await startScenario({ targets: [shop], ...options });
  await scenario.play(rows);
  expect(scenario.log.filter(({ level }) => level >= 50)).toEqual([]);
});

test('a recipient that is added is not notified of an incident that was acknowledged before, nor of its end', async () => {
  await using scenario = await startScenario({ targets: [shop] });
  scenario.see('shop', 'd');
  await scenario.clock.advance(300_000);
  for (const { id } of scenario.monitor.openIncidents()) await scenario.monitor.acknowledge(id, 'on it');
  await scenario.apply({ targets: [target('shop', { recipients: [...shop.recipients, boss] })] });
  await scenario.clock.advance(300_000);
  scenario.see('shop', 'u');
  await scenario.clock.advance(300_000);
  const before = scenario.store.deliveries.length;
  expect(scenario.store.deliveries.map(({ recipient }) => recipient)).not.toContain('boss@example.com');
  // The next incident is news for both.
  scenario.see('shop', 'd');
  await scenario.clock.advance(300_000);
  expect(scenario.store.deliveries.slice(before).map(({ recipient }) => recipient)).toContain('boss@example.com');
});

test('a wall clock that is set back by a day in mid-incident changes nothing that is told', async () => {
  await using scenario = await startScenario({ targets: [shop] });
  scenario.see('shop', 'd');
  await scenario.clock.advance(300_000);
  scenario.clock.step(-86_400_000);
  await scenario.clock.advance(300_000);
  scenario.see('shop', 'u');
  await scenario.clock.advance(300_000);
  expect(scenario.store.deliveries.map(({ kind }) => kind)).toEqual(['opened', 'resolved']);
});

const slow = (window: string) => [
  rule('slow', { latency: { above: '500ms', statistic: 'mean', window }, rounds: 1, recover: 1 }),
];

test('a reload keeps what was measured once, fills a longer window from the store, and forgets another host', async () => {
  await using scenario = await startScenario({ targets: [target('shop', { rules: slow('3m') })] });
  const told = () => scenario.store.deliveries.map(({ kind }) => kind);
  scenario.see('shop', '1');
  await scenario.clock.advance(600_000);
  await scenario.apply({ targets: [target('shop', { rules: slow('10m'), labels: { team: 'web' } })] });
  scenario.see('shop', '9');
  // Of ten minutes, four slow ones leave the mean at 420 ms, five are not above 500 ms either, six are.
  await scenario.clock.advance(300_000);
  expect(told()).toEqual([]);
  await scenario.clock.advance(60_000);
  expect(told()).toEqual(['opened']);
  scenario.see('shop', '2');
  const spec = CheckSpec.parse({ type: 'tcp', host: 'new.example.com:443' });
  await scenario.apply({ targets: [target('shop', { rules: slow('10m'), spec })] });
  await scenario.clock.advance(60_000);
  expect(told()).toEqual(['opened', 'resolved']);
});

test('what was measured of another host by a round that ends after the reload does not count', async () => {
  const rules = [rule('slow', { latency: { above: '500ms', window: '10m' } })];
  const shop = target('shop', { rules });
  await using scenario = await startScenario({ targets: [shop, target('blog')], downTakesMs: 10_000 });
  scenario.see('shop', 'd44');
  const rounds = () => scenario.runs.filter((run) => run.target === 'shop').length;
  await scenario.clock.advance(300_000);
  scenario.see('shop', 'd99');
  for (const before = rounds(); rounds() === before;) await scenario.clock.advance(1_000);
  const spec = CheckSpec.parse({ type: 'tcp', host: 'new.example.com:443' });
  await scenario.apply({ targets: [{ ...shop, spec }, target('blog')] });
  scenario.see('shop', '2');
  await scenario.clock.advance(600_000);
  expect(scenario.store.deliveries).toEqual([]);
});

const moved = CheckSpec.parse({ type: 'tcp', host: 'new.example.com:443' });
const patient = (written: { readonly rounds?: number | string } = {}) =>
  target('shop', { rules: [rule('down', { rounds: 3, recover: 3, confirm: false, ...written })] });

describe.each([
  {
    name: 'a reload',
    change: (next: Target) => async (scenario: Scenario) => scenario.apply({ targets: [next, blog] }),
  },
  {
    name: 'a restart',
    change: (next: Target) => async (scenario: Scenario) => scenario.restart({ targets: [next, blog] }),
  },
])('a target that has another host after $name', ({ change }) => {
  test.each([{ rounds: 3 }, { rounds: '3 of 5' }])(
    'is down by failing rounds of that host alone (rounds: $rounds)',
    async ({ rounds }) => {
      const before = patient({ rounds });
      await using scenario = await startScenario({ targets: [before, blog] });
      const next = { ...before, spec: moved };
      await scenario.play([
        { minute: 0, see: { blog: 'u' } },
        { minute: 5, see: { shop: 'd' } },
        { minute: 7, also: change(next) },
        { minute: 9, tell: ['DOWN shop'] },
        { minute: 10.5 },
      ]);
      const [opened] = [...scenario.store.incidents.values()];
      expect(opened?.startedAt).toBeGreaterThan(Date.parse('2026-01-01T00:07:00Z'));
    },
  );

  test('is up again by good rounds of that host alone', async () => {
    const before = patient();
    await using scenario = await startScenario({ targets: [before, blog] });
    await scenario.play([
      { minute: 0, see: { blog: 'u' } },
      { minute: 5, see: { shop: 'd' }, tell: ['DOWN shop'] },
      { minute: 10, see: { shop: 'u' } },
      { minute: 12, also: change({ ...before, spec: moved }) },
      { minute: 14, tell: ['RESOLVED shop'] },
      { minute: 15.5 },
    ]);
  });

  test('is slow by answers of that host alone', async () => {
    const before = target('shop', { rules: slow('30m') });
    await using scenario = await startScenario({ targets: [before, blog] });
    await scenario.play([
      { minute: 0, see: { shop: '4', blog: 'u' } },
      { minute: 10, see: { shop: '9' } },
      { minute: 11, also: change({ ...before, spec: moved }), tell: ['SLOW shop'] },
      { minute: 12.5 },
    ]);
  });

  test('has changed its answers only if those of that host change', async () => {
    const spec = CheckSpec.parse({ type: 'dns', host: 'example.com' });
    const before = target('shop', { spec, rules: [rule('changed', { answers: 'changed' })] });
    const answered = (address: string): Outcome => ({
      ...up(),
      detail: { records: [{ type: 'A', data: address }] },
    });
    await using scenario = await startScenario({ targets: [before, blog] });
    await scenario.play([
      { minute: 0, see: { shop: answered('192.0.2.1'), blog: 'u' } },
      {
        minute: 5,
        see: { shop: answered('192.0.2.9') },
        also: change({ ...before, spec: CheckSpec.parse({ type: 'dns', host: 'example.net' }) }),
      },
      { minute: 10, see: { shop: answered('192.0.2.8') }, tell: ['CHANGED shop'] },
      { minute: 13 },
    ]);
  });

  test('is unknown for as long as that host could not be judged', async () => {
    const before = patient();
    const both = { ...before, rules: [...before.rules, rule('unknown', { unknown: '15m' })] };
    await using scenario = await startScenario({ targets: [both, blog] });
    await scenario.play([
      { minute: 0, see: { blog: 'u' } },
      { minute: 5, see: { shop: 'x' } },
      { minute: 15, also: change({ ...both, spec: moved }) },
      { minute: 30, tell: ['UNKNOWN shop'] },
      { minute: 32 },
    ]);
  });
});

test('a target that is put back with another host is slow by answers of that host alone', async () => {
  const before = target('shop', { rules: slow('30m') });
  await using scenario = await startScenario({ targets: [before, blog] });
  await scenario.play([
    { minute: 0, see: { shop: '4', blog: 'u' } },
    { minute: 10, also: async (running) => running.apply({ targets: [blog] }) },
    {
      minute: 11,
      see: { shop: '9' },
      also: async (running) => running.apply({ targets: [{ ...before, spec: moved }, blog] }),
      tell: ['SLOW shop'],
    },
    { minute: 12.5 },
  ]);
});

test('a job has failed as often if another grace is configured while the program does not run', async () => {
  const job = (grace: string) =>
    target('backup', {
      spec: CheckSpec.parse({ type: 'heartbeat', secret_hash: 'a'.repeat(64), grace }),
      schedule: { kind: 'every', everyMs: 3_600_000 },
      rules: [rule('down', { rounds: 2, recover: 1 })],
    });
  const fail = async ({ monitor, clock }: Scenario) =>
    void (await monitor.hear('backup', { at: clock.now(), kind: 'failure', run: null, exitCode: 1, log: [] }));
  await using scenario = await startScenario({ targets: [job('10m')] });
  await scenario.play([
    { minute: 0, also: fail },
    { minute: 10, also: async (running) => running.restart({ targets: [job('20m')] }) },
    { minute: 30, also: fail, tell: ['DOWN backup'] },
    { minute: 31 },
  ]);
});

test('a start with another order of options, or by a version with other options, forgets nothing', async () => {
  const spec = (headers: object) => CheckSpec.parse({ type: 'http', host: 'https://shop.example.com/', headers });
  const before = target('shop', {
    spec: spec({ a: '1', b: '2' }),
    rules: [rule('down', { rounds: 3, confirm: false })],
  });
  await using scenario = await startScenario({ targets: [before, blog] });
  await scenario.play([
    { minute: 0, see: { blog: 'u' } },
    { minute: 5, see: { shop: 'd' } },
    {
      minute: 6,
      also: async (running) => running.restart({ targets: [{ ...before, spec: spec({ b: '2', a: '1' }) }, blog] }),
    },
    {
      minute: 7,
      also: async (running) => {
        const digest = running.store.checkedSpecs(new Set(['shop'])).get('shop') ?? '';
        const known = { target: 'shop', dueAt: 0, votes: [], states: [], incidents: [], deliveries: [] };
        await running.store.record({ ...known, spec: digest.replace(/^.{6}/, 'before') });
        await running.restart({ targets: [{ ...before, spec: spec({ b: '3' }) }, blog] });
      },
      tell: ['DOWN shop'],
    },
    { minute: 8 },
  ]);
});

test('a suspected node that is not there any more is told not to be monitored any more', async () => {
  const nodes = ['de1', 'us1', 'jp1'];
  await using scenario = await startScenario({ nodes, targets: ['a', 'b', 'c'].map((name) => target(name)) });
  scenario.see('*', 'udu');
  await scenario.clock.advance(600_000);
  scenario.nodes.splice(1, 1);
  scenario.see('*', 'u');
  await scenario.clock.advance(600_000);
  expect(scenario.store.deliveries.map(({ kind, incidentId }) => `${kind} ${incidentId.split('/')[0]}`)).toEqual([
    'opened node us1',
    'closed node us1',
  ]);
});

test('a node is judged by the targets that there are, whatever ran of others when they were taken out', async () => {
  const targets = ['a', 'b', 'c'].map((name) => target(name));
  const others = Array.from({ length: 12 }, (_, index) => target(`other${index}`));
  await using scenario = await startScenario({ targets: [...targets, ...others], downTakesMs: 50_000 });
  for (const { name } of others) scenario.see(name, 'd');
  await scenario.clock.advance(300_000);
  await scenario.apply({ targets });
  scenario.see('*', 'udu');
  await scenario.clock.advance(600_000);
  expect(scenario.monitor.openIncidents().map(({ target }) => target)).toEqual(['node us1']);
  expect(scenario.monitor.seenNow(incident('other0', 0))).toBeNull();
});

// What is told, minute by minute, of a target that is down the whole night while a window of an hour opens at half past two.
test.each([
  {
    zone: 'Europe/Berlin',
    day: '2026-03-29',
    opens: '01:00',
    what: 'the hour is left out: the window opens at its end',
  },
  {
    zone: 'Europe/Berlin',
    day: '2026-10-25',
    opens: '00:30',
    what: 'the hour comes twice: the window opens the first time',
  },
  { zone: 'America/New_York', day: '2026-03-08', opens: '07:00', what: 'the hour is left out' },
  {
    zone: 'America/New_York',
    day: '2026-11-01',
    opens: '07:30',
    what: 'half past two comes once, after the hour that comes twice',
  },
  {
    zone: 'Australia/Lord_Howe',
    day: '2026-10-03',
    opens: '15:30',
    what: 'half an hour is left out, half past two is its end',
  },
  {
    zone: 'Australia/Lord_Howe',
    day: '2026-04-04',
    opens: '16:00',
    what: 'half past two comes once, after the half hour that comes twice',
  },
  { zone: 'Europe/Berlin', day: '2026-06-01', opens: '00:30', what: 'an ordinary day' },
])('a window at 02:30 in $zone on $day lasts an hour: $what', async ({ zone, day, opens }) => {
  const time = { kind: 'cron', pattern: '30 2 * * *', timezone: zone, durationMs: 3_600_000 } as const;
  const begins = Date.parse(`${day}T${opens}:00Z`);
  const atTheStart = new Date(begins - 120_000).toISOString();
  await using scenario = await startScenario({
    start: atTheStart,
    targets: [
      target('shop', {
        schedule: { kind: 'every', everyMs: 10_000 },
        rules: [rule('down', { rounds: 1, recover: 1 })],
      }),
    ],
    maintenance: [{ targets: 'all', time }],
  });
  await scenario.play([
    { minute: 0, see: { shop: 'd' }, tell: ['DOWN shop'] },
    { minute: 1, see: { shop: 'u' }, tell: ['RESOLVED shop'] },
    { minute: 2.1, see: { shop: 'd' } },
    { minute: 61.9, tell: ['DOWN shop'] },
    { minute: 62.3 },
  ]);
});
