import { describe, expect, test } from 'vitest';
import { rule, type Scenario, startScenario, target } from '../../../support/scenario.ts';

const minute = 60_000;
const five = ['n1', 'n2', 'n3', 'n4', 'n5'];

interface Case {
  readonly written: { readonly failing?: string | number; readonly quorum?: number };
  /** What the nodes see; those that it has no sign for are not there any more. */
  readonly see: string;
  /** What is notified if the target was up before, and if it was down. */
  readonly up: readonly string[];
  readonly down: readonly string[];
}

const told = ({ store }: Scenario) =>
  store.deliveries.flatMap(({ kind, incidentId }) => {
    const incident = store.incidents.get(incidentId);
    return incident?.target === 'shop' ? [`${kind} ${incident.rule}`] : [];
  });

const shop = (written: Case['written']) =>
  target('shop', { rules: [rule('down', written), rule('unknown', { unknown: '15m' })] });

const opensDown = ['opened down'];
const opensUnknown = ['opened unknown'];
const resolved = ['opened down', 'resolved down'];

const cases: readonly Case[] = [
  // Only missing votes could make it three.
  { written: { failing: 3 }, see: 'ddxxu', up: opensUnknown, down: opensDown },
  { written: { failing: 3 }, see: 'ddxuu', up: opensUnknown, down: opensDown },
  { written: { failing: 3 }, see: 'dxxuu', up: opensUnknown, down: opensDown },
  { written: { failing: 3, quorum: 1 }, see: 'ddxxx', up: opensUnknown, down: opensDown },
  { written: { failing: 3, quorum: 1 }, see: 'duxxx', up: opensUnknown, down: opensDown },
  // Nor can nodes that are not there.
  { written: { failing: 3 }, see: 'dd', up: opensUnknown, down: opensDown },
  { written: { failing: 3 }, see: 'dx', up: opensUnknown, down: opensDown },
  { written: { failing: 3 }, see: 'd', up: opensUnknown, down: opensDown },
  // Too few votes for the quorum.
  { written: { failing: 3 }, see: 'uuxxx', up: opensUnknown, down: opensDown },
  { written: { failing: 'any' }, see: 'dxxxx', up: opensUnknown, down: opensDown },
  { written: { failing: 'all' }, see: 'ddxxx', up: opensUnknown, down: opensDown },
  { written: { failing: '50%' }, see: 'dxxxu', up: opensUnknown, down: opensDown },
  { written: {}, see: 'ddxxx', up: opensUnknown, down: opensDown },
  // Whatever the missing votes are.
  { written: { failing: 3 }, see: 'dddxx', up: opensDown, down: opensDown },
  { written: { failing: 3 }, see: 'dduuu', up: [], down: resolved },
  { written: { failing: 3 }, see: 'uuuxx', up: [], down: resolved },
  { written: { failing: 3 }, see: 'du', up: [], down: resolved },
  { written: { failing: 3 }, see: 'uu', up: [], down: resolved },
  { written: { failing: 'any' }, see: 'dxxuu', up: opensDown, down: opensDown },
  { written: { failing: 'all' }, see: 'dddxx', up: opensDown, down: opensDown },
  { written: { failing: 'all' }, see: 'dddux', up: [], down: resolved },
  { written: { failing: '50%' }, see: 'ddxxu', up: opensDown, down: opensDown },
  { written: { quorum: 3 }, see: 'dd', up: opensDown, down: opensDown },
];

describe.each(cases)('$written, and the nodes see $see', ({ written, see, up, down }) => {
  test.each([
    { before: 'up', sign: 'u', expected: up },
    { before: 'down', sign: 'd', expected: down },
  ])('after it was $before', async ({ sign, expected }) => {
    const targets = [shop(written), target('blog'), target('mail')];
    await using scenario = await startScenario({ nodes: five, targets });
    await scenario.clock.advance(2 * minute);
    scenario.see('shop', sign);
    await scenario.clock.advance(3 * minute);
    scenario.nodes.splice(see.length);
    scenario.see('shop', see.length === 1 ? `${see}x` : see);
    await scenario.clock.advance(14 * minute);
    expect(told(scenario)).toEqual(expected === opensUnknown ? [] : expected);
    await scenario.clock.advance(6 * minute);
    expect(told(scenario)).toEqual(expected);
  });
});

test.each<{ see: string; written: Case['written']; cause: string | null }>([
  // The second or third one down would be the suspected one.
  { written: { failing: 3 }, see: 'dddu', cause: 'its rule needs the vote of a suspected node' },
  { written: { failing: 3 }, see: 'uddu', cause: 'its rule needs the vote of a suspected node' },
  { written: { failing: 2 }, see: 'dduu', cause: 'its rule needs the vote of a suspected node' },
  { written: { failing: 2 }, see: 'duuu', cause: null },
  { written: {}, see: 'dduu', cause: null },
])(
  '$written: a target that a suspected node and others see $see is unknown: $cause',
  async ({ written, see, cause }) => {
    const others = ['a', 'b', 'c', 'd', 'e'].map((name) => target(name));
    await using scenario = await startScenario({ nodes: five.slice(0, 4), targets: [shop(written), ...others] });
    await scenario.clock.advance(2 * minute);
    scenario.see('*', 'duuu');
    await scenario.clock.advance(5 * minute);
    scenario.see('shop', see);
    await scenario.clock.advance(14 * minute);
    expect(told(scenario)).toEqual([]);
    await scenario.clock.advance(6 * minute);
    expect(told(scenario)).toEqual(cause === null ? [] : opensUnknown);
    const causes = [...scenario.store.incidents.values()].filter(({ target: name }) => name === 'shop');
    expect(causes.map((incident) => incident.cause)).toEqual(cause === null ? [] : [cause]);
  },
);

test('a target that has fewer nodes than its rule needs says so', async () => {
  await using scenario = await startScenario({ nodes: five, targets: [shop({ failing: 3 }), target('blog')] });
  await scenario.clock.advance(2 * minute);
  scenario.nodes.splice(2);
  scenario.see('shop', 'dd');
  await scenario.clock.advance(17 * minute);
  expect([...scenario.store.incidents.values()]).toMatchObject([
    { rule: 'unknown', cause: 'there are fewer nodes than its rule needs' },
  ]);
  scenario.see('shop', 'u');
  await scenario.clock.advance(3 * minute);
  expect(told(scenario)).toEqual(['opened unknown', 'resolved unknown']);
});
