import { expect, test } from 'vitest';
import { type Scenario, startScenario, target } from '../../../support/scenario.ts';

// Most of what is watched fails at once. Whether that is our own connectivity is told by what still answers, wherever it stands in the file.

const many = (count: number) => Array.from({ length: count }, (_, index) => `t${index}`);
const told = (scenario: Scenario) =>
  scenario.store.deliveries.map(
    ({ kind, incidentId }) => `${kind} ${scenario.store.incidents.get(incidentId)?.target}`,
  );
const every = (seconds: number) => ({ schedule: { kind: 'every', everyMs: seconds * 1_000 } }) as const;

test.each([
  { count: 2, live: 1 },
  { count: 3, live: 2 },
  { count: 13, live: 0 },
  { count: 13, live: 6 },
  { count: 13, live: 12 },
  { count: 302, live: 301 },
])(
  'of $count targets all fail but number $live: they are told within a round, and no connectivity is lost',
  async ({ count, live }) => {
    await using scenario = await startScenario({ targets: many(count).map((name) => target(name)) });
    await scenario.clock.advance(300_000);
    for (const name of many(count)) scenario.see(name, name === `t${live}` ? 'u' : 'd');
    await scenario.clock.advance(75_000);
    expect(told(scenario).toSorted()).toEqual(
      many(count)
        .flatMap((name) => (name === `t${live}` ? [] : [`opened ${name}`]))
        .toSorted(),
    );
  },
);

test('with one node, every round of a live target at the end of the file counts', async () => {
  await using scenario = await startScenario({
    nodes: ['de1'],
    targets: many(13).map((name) => target(name, every(5))),
  });
  await scenario.clock.advance(300_000);
  for (const name of many(12)) scenario.see(name, 'd');
  await scenario.clock.advance(15_000);
  expect(told(scenario).toSorted()).toEqual(
    many(12)
      .map((name) => `opened ${name}`)
      .toSorted(),
  );
});

test('the live target may be one that is checked by the hour', async () => {
  await using scenario = await startScenario({
    targets: [...many(30).map((name) => target(name)), target('rare', every(3_600))],
  });
  await scenario.clock.advance(4_000_000);
  for (const name of many(30)) scenario.see(name, 'd');
  await scenario.clock.advance(75_000);
  expect(told(scenario).toSorted()).toEqual(
    many(30)
      .map((name) => `opened ${name}`)
      .toSorted(),
  );
});

test('the live target may stand behind one that it depends on', async () => {
  await using scenario = await startScenario({
    targets: [
      ...many(20).map((name) => target(name)),
      target('router'),
      target('behind', { dependsOn: ['router'] }),
      target('other', { dependsOn: ['router'] }),
    ],
  });
  await scenario.clock.advance(300_000);
  for (const name of [...many(20), 'router', 'other']) scenario.see(name, 'd');
  await scenario.clock.advance(120_000);
  expect(told(scenario).toSorted()).toEqual([...many(20), 'router'].map((name) => `opened ${name}`).toSorted());
});

test('with thirty targets an uplink that is gone is one message, and its return another', async () => {
  await using scenario = await startScenario({ targets: many(30).map((name) => target(name)) });
  await scenario.clock.advance(300_000);
  scenario.see('*', 'd');
  await scenario.clock.advance(200_000);
  expect(told(scenario)).toEqual(['opened own connectivity']);
  scenario.see('*', 'u');
  await scenario.clock.advance(300_000);
  expect(told(scenario)).toEqual(['opened own connectivity', 'resolved own connectivity']);
});

test('with thousands of targets an uplink that is gone is noticed without checking all of them in a moment', async () => {
  await using scenario = await startScenario({
    nodes: ['de1'],
    targets: many(2_000).map((name) => target(name, every(600))),
  });
  await scenario.clock.advance(900_000);
  const before = scenario.runs.length;
  scenario.see('*', 'd');
  await scenario.clock.advance(120_000);
  expect(told(scenario)).toEqual(['opened own connectivity']);
  const seconds = new Map<number, number>();
  for (const { at } of scenario.runs.slice(before)) {
    const second = Math.floor(at / 1_000);
    seconds.set(second, (seconds.get(second) ?? 0) + 1);
  }
  expect(Math.max(...seconds.values())).toBeLessThan(300);
});

test('connectivity is back with two good results of the only target that answers, and the others are told', async () => {
  await using scenario = await startScenario({ targets: many(13).map((name) => target(name)) });
  await scenario.clock.advance(300_000);
  scenario.see('*', 'd');
  await scenario.clock.advance(120_000);
  expect(told(scenario)).toEqual(['opened own connectivity']);
  scenario.see('t12', 'u');
  await scenario.clock.advance(120_000);
  expect(told(scenario).slice(0, 2)).toEqual(['opened own connectivity', 'resolved own connectivity']);
  expect(told(scenario).slice(2).toSorted()).toEqual(
    many(12)
      .map((name) => `opened ${name}`)
      .toSorted(),
  );
});
