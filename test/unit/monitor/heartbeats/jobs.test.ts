import { describe, expect, test } from 'vitest';
import { CheckSpec, checkOf } from '#checks/index.ts';
import type { Ping } from '#monitor/heartbeats/hear.ts';
import { Rule, ruleFor } from '#monitor/judge/rule.ts';
import type { Target } from '#monitor/judge/target.ts';
import { type Row, rule, type Scenario, startScenario, target } from '../../../support/scenario.ts';

const hash = 'a'.repeat(64);

function job(name: string, changes: Partial<Target> = {}, options: object = {}): Target {
  const spec = CheckSpec.parse({ type: 'heartbeat', secret_hash: hash, grace: '10m', ...options });
  const usual = { name: 'down', rule: ruleFor(Rule.parse({}), checkOf('heartbeat')) };
  return target(name, { spec, schedule: { kind: 'every', everyMs: 3_600_000 }, rules: [usual], ...changes });
}

/** A call by its last part: `start`, `ok`, `fail`, an exit code. */
function call(name: string, kind: string, more: Partial<Ping> = {}) {
  return async ({ monitor, clock }: Scenario) => {
    const kinds: Readonly<Record<string, Ping['kind']>> = { start: 'start', ok: 'success' };
    const beat = { at: clock.now(), kind: kinds[kind] ?? 'failure', run: null, exitCode: null, log: [], ...more };
    expect(await monitor.hear(name, beat)).toBe(true);
  };
}

const one = (minute: number, tell: readonly string[] = [], also?: Row['also']): Row => ({
  minute,
  tell,
  ...(also === undefined ? {} : { also }),
});

test('a job that is late, then failing and then well again is told three times', async () => {
  await using scenario = await startScenario({ targets: [job('backup')] });
  await scenario.play([
    one(0, [], call('backup', 'ok')),
    one(60, ['DOWN backup']),
    one(90, [], call('backup', 'start')),
    one(95, ['UPDATE backup'], call('backup', 'fail', { exitCode: 137, log: ['Killed'] })),
    one(96, [], call('backup', 'fail', { exitCode: 1 })),
    one(120, ['RESOLVED backup'], call('backup', 'ok')),
    one(125),
  ]);
  const rounds = scenario.store.records.filter(({ votes }) => votes.length > 0);
  expect(rounds.map(({ votes }) => votes[0]?.outcome)).toMatchObject([
    { status: 'up', seconds: null },
    { status: 'down', failure: { code: 'late', message: 'late: no ping since 2026-01-01 00:00:00 UTC (every 1h)' } },
    { status: 'down', seconds: 300, failure: { code: 'exit', message: 'ended with exit code 137: Killed' } },
    { status: 'down', failure: { code: 'exit', message: 'ended with exit code 1' } },
    { status: 'up' },
  ]);
});

test('a job that fails is told at once, and one whose rule asks for two runs when it fails again', async () => {
  const patient = [{ name: 'down', rule: ruleFor(rule('down', { rounds: 2 }).rule, checkOf('heartbeat')) }];
  await using scenario = await startScenario({ targets: [job('strict'), job('patient', { rules: patient })] });
  const both = (kind: string) => async (running: Scenario) => {
    await call('strict', kind)(running);
    await call('patient', kind)(running);
  };
  await scenario.play([one(0, ['DOWN strict'], both('fail')), one(30, ['DOWN patient'], both('fail')), one(40)]);
});

test('a restart forgets nothing that was heard, and gives everybody a full grace', async () => {
  await using scenario = await startScenario({ targets: [job('backup')] });
  await scenario.play([
    one(0, [], call('backup', 'ok')),
    one(65, [], async (running) => running.restart()),
    one(74, ['DOWN backup']),
    one(76),
  ]);
  expect(scenario.store.incidents.size).toBe(1);
});

test('a restart while a late job runs at last does not take it for well', async () => {
  await using scenario = await startScenario({ targets: [job('backup')] });
  await scenario.play([
    one(0, [], call('backup', 'ok')),
    one(60, ['DOWN backup']),
    one(100, [], call('backup', 'start')),
    one(105, [], async (running) => running.restart()),
    one(110, ['RESOLVED backup'], call('backup', 'ok')),
    one(115),
  ]);
});

test('a run that was begun before a restart ends with its whole duration', async () => {
  await using scenario = await startScenario({ targets: [job('backup')] });
  await scenario.play([
    one(0, [], call('backup', 'start', { run: 'a' })),
    one(10, [], async (running) => running.restart()),
    one(20, [], call('backup', 'ok', { run: 'a' })),
    one(21, [], call('backup', 'ok', { run: 'a' })),
    one(22),
  ]);
  const rounds = scenario.store.records.filter(({ votes }) => votes.length > 0);
  expect(rounds.map(({ votes }) => votes[0]?.outcome.seconds)).toEqual([1_200]);
});

test('nothing is late while our own connectivity is lost, and it has a full grace afterwards', async () => {
  const hosts = ['a', 'b', 'c'].map((name) => target(name));
  await using scenario = await startScenario({ targets: [job('backup'), ...hosts] });
  await scenario.play([
    one(0, [], call('backup', 'ok')),
    { ...one(60, ['OFFLINE own connectivity'], (running) => running.cutOff(true)), see: { '*': 'd' } },
    { ...one(80, ['RESOLVED own connectivity'], (running) => running.cutOff(false)), see: { '*': 'u' } },
    one(89.5, ['DOWN backup']),
    one(91),
  ]);
});

test('a job says nothing about our own connectivity', async () => {
  await using scenario = await startScenario({ targets: [job('backup'), job('other'), target('shop')] });
  await scenario.play([
    one(0, ['DOWN backup', 'DOWN other'], async (running) => {
      await call('backup', 'fail')(running);
      await call('other', 'fail')(running);
    }),
    one(5),
  ]);
});

test('what begins in a maintenance is told when it ends', async () => {
  const start = Date.parse('2026-01-01T00:00:00Z');
  const time = { kind: 'once', from: start, to: start + 1_800_000 } as const;
  await using scenario = await startScenario({
    targets: [job('backup')],
    maintenance: [{ targets: 'all', time }],
    start: '2026-01-01T00:00:00Z',
  });
  await scenario.play([one(10, [], call('backup', 'fail')), one(29, ['DOWN backup']), one(31)]);
});

test('a job that is taken out and put back is waited for anew', async () => {
  await using scenario = await startScenario({ targets: [job('backup'), target('shop')] });
  await scenario.play([
    one(0, [], call('backup', 'ok')),
    one(10, [], async (running) => running.apply({ targets: [target('shop')] })),
    one(100, [], async (running) => running.apply({ targets: [job('backup'), target('shop')] })),
    one(169, ['DOWN backup']),
    one(171),
  ]);
  expect(await scenario.monitor.hear('nobody', { at: 0, kind: 'success', run: null, exitCode: null, log: [] })).toBe(
    false,
  );
});

test('a restart by which a late job may call less often ends its lateness', async () => {
  await using scenario = await startScenario({ targets: [job('backup')] });
  const daily = job('backup', { schedule: { kind: 'every', everyMs: 86_400_000 } });
  await scenario.play([
    one(0, [], call('backup', 'ok')),
    one(69, ['DOWN backup']),
    one(75, [], async (running) => running.restart()),
    one(80, ['RESOLVED backup'], async (running) => running.restart({ targets: [daily] })),
    one(90),
    one(1_449, ['DOWN backup']),
    one(1_451),
  ]);
});

test('a job that is late is so no longer once it may call less often', async () => {
  await using scenario = await startScenario({ targets: [job('backup')] });
  const daily = job('backup', { schedule: { kind: 'every', everyMs: 86_400_000 } });
  await scenario.play([
    one(0, [], call('backup', 'ok')),
    one(69, ['DOWN backup']),
    one(80, ['RESOLVED backup'], async (running) => running.apply({ targets: [daily] })),
    one(90),
    one(1_449, ['DOWN backup']),
    one(1_451, [], async (running) => running.apply({ targets: [daily] })),
    one(1_460),
  ]);
});

test('a target that depends on a job waits for no check of it, because there is none', async () => {
  const shop = target('shop', { dependsOn: ['backup'] });
  await using scenario = await startScenario({ targets: [job('backup'), shop, target('blog')] });
  await scenario.play([
    one(0, [], call('backup', 'ok')),
    { minute: 5, see: { shop: 'd' }, tell: ['DOWN shop'] },
    { minute: 6.2 },
  ]);
});

test('a job fails once if it reports that once, although a target that depends on it fails', async () => {
  const patient = [{ name: 'down', rule: ruleFor(rule('down', { rounds: 2 }).rule, checkOf('heartbeat')) }];
  const shop = target('shop', { dependsOn: ['backup'] });
  await using scenario = await startScenario({ targets: [job('backup', { rules: patient }), shop, target('blog')] });
  await scenario.play([
    one(0, [], call('backup', 'ok')),
    one(10, [], call('backup', 'fail')),
    { minute: 11, see: { shop: 'd' } },
    { minute: 15 },
  ]);
});

const minute = 60_000;
const day = 86_400_000;
const toldOf = ({ store }: Scenario) =>
  store.deliveries.map(({ kind, incidentId }) => `${kind} ${store.incidents.get(incidentId)?.target}`);

test.each([
  { name: 'goes on and stops later', pings: true, restarts: false },
  { name: 'calls no more', pings: false, restarts: false },
  { name: 'goes on and stops later, after a restart', pings: true, restarts: true },
  { name: 'calls no more after a restart', pings: false, restarts: true },
])('a job is late in time when the clock was set back: it $name', async ({ pings, restarts }) => {
  await using scenario = await startScenario({ targets: [job('backup')] });
  await scenario.clock.advance(10 * minute);
  await call('backup', 'ok')(scenario);
  await scenario.clock.advance(10 * minute);
  scenario.clock.step(-day);
  if (restarts) await scenario.restart();
  await scenario.clock.advance(10 * minute);
  if (pings) await call('backup', 'ok')(scenario);
  await scenario.clock.advance(55 * minute);
  expect(toldOf(scenario)).toEqual([]);
  await scenario.clock.advance(20 * minute);
  expect(toldOf(scenario)).toEqual(['opened backup']);
  await call('backup', 'ok')(scenario);
  expect(toldOf(scenario)).toEqual(['opened backup', 'resolved backup']);
});

test('a job is late in time when the clock was set back after own connectivity had been lost', async () => {
  const others = ['shop', 'blog', 'mail'].map((name) => target(name));
  await using scenario = await startScenario({ targets: [...others, job('backup')] });
  await scenario.clock.advance(10 * minute);
  scenario.see('*', 'd');
  await scenario.clock.advance(5 * minute);
  scenario.see('*', 'u');
  await scenario.clock.advance(5 * minute);
  scenario.clock.step(-day);
  await scenario.clock.advance(minute);
  await call('backup', 'ok')(scenario);
  const before = toldOf(scenario).length;
  await scenario.clock.advance(80 * minute);
  expect(toldOf(scenario).slice(before)).toEqual(['opened backup']);
});

const hours = (from: number, until: number) => Array.from({ length: until - from }, (_, index) => (from + index) * 60);

type Call = readonly [at: number, kind: string, run?: string];

/** What a job reports until a minute, as rows: its calls in their order. */
const reports = (calls: readonly Call[], until: number): Row[] => [
  ...[
    ...Map.groupBy(
      calls.filter(([at]) => at <= until),
      ([at]) => at,
    ),
  ]
    .toSorted(([one], [other]) => one - other)
    .map(([at, together]) =>
      one(at, [], async (running) => {
        for (const [, kind, run] of together) await call('backup', kind, { run: run ?? null })(running);
      }),
    ),
  one(until),
];

const hourlyCron = { kind: 'cron', pattern: '0 * * * *', timezone: 'UTC' } as const;

/** What follows, as `minute kind` since the start. */
async function followed(target: Target, rows: readonly Row[], restartAt: number | null = null) {
  await using scenario = await startScenario({ targets: [target], start: '2026-01-01T00:00:00Z' });
  const begun = scenario.clock.now();
  for (const { minute: at, also } of rows) {
    await scenario.clock.advance(begun + at * minute - scenario.clock.now());
    if (at === restartAt) await scenario.restart();
    await also?.(scenario);
  }
  return scenario.store.deliveries.map(({ kind, createdAt }) => `${(createdAt - begun) / minute} ${kind}`);
}

describe.each([
  { name: 'by an interval', changes: {} },
  { name: 'by cron', changes: { schedule: hourlyCron } },
])('a job that reports its starts, $name', ({ changes }) => {
  const starts = (from: number, until: number, named: boolean) =>
    hours(from, until).map((at): Call => (named ? [at, 'start', `run${at}`] : [at, 'start']));

  test.each([{ named: false }, { named: true }])(
    'is down when it is killed in each run, and up with the first run that ends (named runs: $named)',
    async ({ named }) => {
      const ends = (at: number): Call => (named ? [at + 10, 'ok', `run${at}`] : [at + 10, 'ok']);
      const calls = [...starts(0, 9, named), ends(0), ends(60), ends(480)];
      // The run of 02:00 does not end: the next one was due at 03:00, and has its grace.
      expect(await followed(job('backup', changes), reports(calls, 500))).toEqual(['190 opened', '490 resolved']);
    },
  );

  test('is down again after each run that ended, and its message says which run did not', async () => {
    await using scenario = await startScenario({ targets: [job('backup', changes)], start: '2026-01-01T00:00:00Z' });
    await scenario.play([
      one(0, [], call('backup', 'start')),
      one(60, ['DOWN backup'], call('backup', 'start')),
      one(120, ['RESOLVED backup'], async (running) => {
        await call('backup', 'start')(running);
        await call('backup', 'ok')(running);
      }),
      one(180, [], call('backup', 'start')),
      one(240, ['DOWN backup'], call('backup', 'start')),
      one(251),
    ]);
    const causes = [...scenario.store.incidents.values()].map(({ cause }) => cause);
    expect(causes).toEqual([
      'began at 2026-01-01 00:00:00 UTC and has not ended; the next run began at 2026-01-01 01:00:00 UTC',
      'began at 2026-01-01 03:00:00 UTC and has not ended; the next run began at 2026-01-01 04:00:00 UTC',
    ]);
  });

  test('with rounds: 2 is down when a second run has not ended either', async () => {
    const patient = [{ name: 'down', rule: ruleFor(rule('down', { rounds: 2 }).rule, checkOf('heartbeat')) }];
    const calls = starts(0, 5, false);
    expect(await followed(job('backup', { ...changes, rules: patient }), reports(calls, 300))).toEqual(['130 opened']);
  });

  test('is down when it is killed in each run, although it may take longer than to the next one', async () => {
    const patient = job('backup', changes, { max_runtime: '90m' });
    expect(await followed(patient, reports(starts(0, 12, false), 720))).toEqual(['90 opened']);
    expect(await followed(job('backup', changes, { max_runtime: '11h' }), reports(starts(0, 13, true), 780))).toEqual([
      '660 opened',
    ]);
  });

  test('is down when it is killed in each run, although it begins more often than it should', async () => {
    const calls = Array.from({ length: 40 }, (_, index): Call => [index * 5, 'start', `run${index}`]);
    expect(await followed(job('backup', changes), reports(calls, 200))).toEqual(['70 opened']);
  });

  test('is down when it is killed in each run, over a restart', async () => {
    // After a start it has its whole grace.
    expect(await followed(job('backup', changes), reports(starts(0, 5, false), 300), 60)).toEqual(['70 opened']);
  });

  test.each([{ named: false }, { named: true }])(
    'is up while it takes longer than to the next run, and ends each (named runs: $named)',
    async ({ named }) => {
      const ends = hours(0, 20).map((at): Call => {
        const end = at + (at === 0 ? 65 : 75);
        return named ? [end, 'ok', `run${at}`] : [end, 'ok'];
      });
      expect(await followed(job('backup', changes), reports([...starts(0, 20, named), ...ends], 1_205))).toEqual([]);
    },
  );

  test('is up if a run was killed and the next one ends within its grace', async () => {
    const calls: Call[] = [
      [0, 'start'],
      [60, 'start'],
      [69, 'ok'],
      [120, 'start'],
      [121, 'ok'],
    ];
    expect(await followed(job('backup', changes), reports(calls, 180))).toEqual([]);
  });
});

test.each([
  { name: 'a maintenance', fails: [61, 62], tells: 61 },
  { name: 'a silence', fails: [61, 62], tells: 61 },
  { name: 'a silence that is ended sooner', fails: [61, 62], tells: 61 },
  { name: 'a silence, and does not run any more', fails: [], tells: 65 },
])(
  'a job that may fail once is notified by its next run after $name, or after five minutes',
  async ({ name, fails, tells }) => {
    const patient = [{ name: 'down', rule: ruleFor(rule('down', { rounds: 2 }).rule, checkOf('heartbeat')) }];
    const from = Date.parse('2026-01-01T00:00:00Z');
    const end = from + 60 * minute;
    const isMaintenance = name === 'a maintenance';
    const isSooner = name === 'a silence that is ended sooner';
    const silence = { id: 'a', targets: 'all', why: 'it moves', from } as const;
    await using scenario = await startScenario({
      targets: [job('backup', { rules: patient, schedule: { kind: 'every', everyMs: day } })],
      maintenance: isMaintenance ? [{ targets: 'all', time: { kind: 'once', from, to: end } }] : [],
      start: '2026-01-01T00:00:00Z',
    });
    if (!isMaintenance) scenario.monitor.silence({ ...silence, until: isSooner ? from + day : end });
    await scenario.play([
      one(10, [], call('backup', 'fail')),
      one(20, [], call('backup', 'fail')),
      one(60, [], ({ monitor }) => {
        if (isSooner) monitor.silence({ ...silence, until: end });
      }),
      ...fails.map((at) => one(at, at === tells ? ['DOWN backup'] : [], call('backup', 'fail'))),
      ...(fails.length > 0 ? [] : [one(64, ['DOWN backup'])]),
      one(66),
    ]);
    expect([...scenario.store.incidents.values()]).toMatchObject([{ cause: 'said that it failed' }]);
  },
);
