import { expect, test } from 'vitest';
import { CheckSpec } from '#checks/index.ts';
import type { Maintenance } from '#monitor/suppress/maintenance.ts';
import {
  type Row,
  rule,
  type Scenario,
  type ScenarioOptions,
  startScenario,
  target,
} from '../../../support/scenario.ts';

interface Case {
  readonly name: string;
  readonly with: ScenarioOptions;
  readonly rows: readonly Row[];
}

const router = target('router');
const behind = Array.from({ length: 200 }, (_, index) => target(`host${index}`, { dependsOn: ['router'] }));
const allBehind = Object.fromEntries(behind.map(({ name }) => [name, 'd']));
const others = [target('blog'), target('wiki')];
const start = '2026-01-01T00:00:00Z';
const at = (minute: number) => Date.parse(start) + minute * 60_000;
const once = (from: number, to: number, targets: Maintenance['targets'] = 'all'): Maintenance => ({
  targets,
  time: { kind: 'once', from: at(from), to: at(to) },
});
const silence = (from: number, to: number) => ({
  id: 'quiet',
  targets: ['shop'],
  why: 'we know',
  from: at(from),
  until: at(to),
});

const cutOff = (scenario: Scenario) => scenario.cutOff(true);
const connect = (scenario: Scenario) => scenario.cutOff(false);

test.each<Case>([
  {
    name: 'a router with 200 targets behind it is one mail when it dies and one when it is back',
    with: { targets: [router, ...behind, ...others] },
    rows: [
      { minute: 0 },
      { minute: 2, see: { router: 'd', ...allBehind }, tell: ['DOWN router'] },
      { minute: 5, see: { router: 'u', ...up(allBehind) }, tell: ['RESOLVED router'] },
      { minute: 10 },
    ],
  },
  {
    name: 'what is still down when the router is back is told then',
    with: { targets: [router, ...behind.slice(0, 20), ...others] },
    rows: [
      { minute: 0 },
      { minute: 2, see: { router: 'd', ...allBehind }, tell: ['DOWN router'] },
      { minute: 6, see: { router: 'u', ...up(allBehind), host7: 'd' }, tell: ['RESOLVED router', 'DOWN host7'] },
      { minute: 12, see: { host7: 'u' }, tell: ['RESOLVED host7'] },
      { minute: 18 },
    ],
  },
  {
    name: 'a target behind two routers is not told while the far one is down, although the near one answers',
    with: {
      targets: [
        target('core'),
        { ...router, dependsOn: ['core'] },
        target('shop', { dependsOn: ['router'] }),
        ...others,
      ],
    },
    rows: [
      { minute: 0 },
      { minute: 2, see: { core: 'd', shop: 'd' }, tell: ['DOWN core'] },
      { minute: 20, see: { core: 'u', shop: 'u' }, tell: ['RESOLVED core'] },
      { minute: 30 },
    ],
  },
  {
    name: 'a target that was told before its router died is told to be up, whatever the router does',
    with: { targets: [router, target('shop', { dependsOn: ['router'] }), ...others] },
    rows: [
      { minute: 0 },
      { minute: 2, see: { shop: 'd' }, tell: ['DOWN shop'] },
      { minute: 10, see: { router: 'd' }, tell: ['DOWN router'] },
      { minute: 20, see: { shop: 'u' }, tell: ['RESOLVED shop'] },
      { minute: 30, see: { router: 'u' }, tell: ['RESOLVED router'] },
      { minute: 40 },
    ],
  },
  {
    name: 'a target is told by itself where its router is up, without waiting for the next look at it',
    with: {
      targets: [
        target('router', { schedule: { kind: 'every', everyMs: 3_600_000 } }),
        target('shop', { dependsOn: ['router'] }),
        ...others,
      ],
    },
    rows: [{ minute: 0 }, { minute: 2, see: { shop: 'd' }, tell: ['DOWN shop'] }, { minute: 4 }],
  },
  {
    name: 'what begins and ends in maintenance is told to nobody',
    with: { targets: [target('shop')], maintenance: [once(10, 60)] },
    rows: [{ minute: 0 }, { minute: 20, see: { shop: 'd' } }, { minute: 40, see: { shop: 'u' } }, { minute: 90 }],
  },
  {
    name: 'what still fails when maintenance ends is told then',
    with: { targets: [target('shop')], maintenance: [once(10, 60)] },
    rows: [
      { minute: 0 },
      { minute: 20, see: { shop: 'd' } },
      { minute: 59.9, tell: ['DOWN shop'] },
      { minute: 60.2, see: { shop: 'u' }, tell: ['RESOLVED shop'] },
      { minute: 70 },
    ],
  },
  {
    name: 'what is over in maintenance is told where its beginning was',
    with: { targets: [target('shop')], maintenance: [once(30, 90, ['shop'])] },
    rows: [
      { minute: 0 },
      { minute: 20, see: { shop: 'd' }, tell: ['DOWN shop'] },
      { minute: 40, see: { shop: 'u' }, tell: ['RESOLVED shop'] },
      { minute: 100 },
    ],
  },
  {
    name: 'maintenance of one target holds nothing else back',
    with: { targets: [target('shop'), target('mail'), ...others], maintenance: [once(10, 60, ['shop'])] },
    rows: [
      { minute: 0 },
      { minute: 20, see: { shop: 'd', mail: 'd' }, tell: ['DOWN mail'] },
      { minute: 40, see: { shop: 'u', mail: 'u' }, tell: ['RESOLVED mail'] },
      { minute: 50 },
    ],
  },
  {
    name: 'a silence holds back, and what still fails at its end is told',
    with: { targets: [target('shop')] },
    rows: [
      { minute: 0, also: ({ monitor }) => monitor.silence(silence(0, 30)) },
      { minute: 5, see: { shop: 'd' } },
      { minute: 29.9, tell: ['DOWN shop'] },
      { minute: 30.2, see: { shop: 'u' }, tell: ['RESOLVED shop'] },
      { minute: 40 },
    ],
  },
  {
    name: 'a silence that is ended sooner holds back no longer',
    with: { targets: [target('shop')] },
    rows: [
      { minute: 0, also: ({ monitor }) => monitor.silence(silence(0, 300)) },
      { minute: 5, see: { shop: 'd' } },
      { minute: 20, also: ({ monitor }) => monitor.silence(silence(0, 20)), tell: ['DOWN shop'] },
      { minute: 20.5 },
    ],
  },
  {
    name: 'a silence survives a restart',
    with: { targets: [target('shop')] },
    rows: [
      { minute: 0, also: ({ monitor }) => monitor.silence(silence(0, 30)) },
      { minute: 5, see: { shop: 'd' } },
      { minute: 10, also: async (scenario) => scenario.restart() },
      { minute: 29.9, tell: ['DOWN shop'] },
      { minute: 31 },
    ],
  },
  {
    name: 'what somebody acknowledged while it was held back is not told when that ends',
    with: { targets: [target('shop')], maintenance: [once(0, 30)] },
    rows: [
      { minute: 0 },
      { minute: 5, see: { shop: 'd' } },
      { minute: 10, also: acknowledgeAll },
      { minute: 60, see: { shop: 'u' } },
      { minute: 70 },
    ],
  },
  {
    name: 'what was told and then acknowledged is told to be over',
    with: { targets: [target('shop')] },
    rows: [
      { minute: 0 },
      { minute: 5, see: { shop: 'd' }, tell: ['DOWN shop'] },
      { minute: 10, also: acknowledgeAll },
      { minute: 60, see: { shop: 'u' }, tell: ['RESOLVED shop'] },
      { minute: 70 },
    ],
  },
  {
    name: 'when our own uplink is gone, one mail says so, and what is still down afterwards is told',
    with: { targets: ['a', 'b', 'c', 'd', 'e'].map((name) => target(name)) },
    rows: [
      { minute: 0 },
      { minute: 5, see: { '*': 'd' }, also: cutOff, tell: ['OFFLINE own connectivity'] },
      { minute: 20, see: { '*': 'u', c: 'd' }, also: connect, tell: ['RESOLVED own connectivity', 'DOWN c'] },
      { minute: 30, see: { c: 'u' }, tell: ['RESOLVED c'] },
      { minute: 40 },
    ],
  },
  {
    name: 'an uplink that is gone is told once across a restart',
    with: { targets: ['a', 'b', 'c'].map((name) => target(name)) },
    rows: [
      { minute: 0 },
      { minute: 5, see: { '*': 'd' }, also: cutOff, tell: ['OFFLINE own connectivity'] },
      { minute: 10, also: async (scenario) => scenario.restart() },
      { minute: 20, see: { '*': 'u' }, also: connect, tell: ['RESOLVED own connectivity'] },
      { minute: 40 },
    ],
  },
  {
    name: 'several checks of one machine are not our uplink',
    with: {
      targets: [
        target('web', { spec: CheckSpec.parse({ type: 'tcp', host: 'shop.example.com:443' }) }),
        target('ssh', { spec: CheckSpec.parse({ type: 'tcp', host: 'shop.example.com:22' }) }),
      ],
    },
    rows: [{ minute: 0 }, { minute: 5, see: { '*': 'd' }, tell: ['DOWN ssh', 'DOWN web'] }, { minute: 10 }],
  },
  {
    name: 'a target that fails while another one has failed for long is told',
    with: { targets: [target('shop'), target('blog')] },
    rows: [
      { minute: 0 },
      { minute: 5, see: { blog: 'd' }, tell: ['DOWN blog'] },
      { minute: 60, see: { shop: 'd' }, tell: ['DOWN shop'] },
      { minute: 70 },
    ],
  },
  {
    name: 'a node that alone sees everything down is told once, counts for nothing, and is trusted again when it agrees',
    with: {
      nodes: ['de1', 'us1', 'jp1'],
      targets: ['a', 'b', 'c', 'd'].map((name) =>
        target(name, { rules: [rule('anywhere', { failing: 'any', rounds: 4, confirm: false })] }),
      ),
    },
    rows: [
      { minute: 0 },
      { minute: 5, see: { '*': 'udu' }, tell: ['SUSPECT node us1'] },
      { minute: 60, see: { '*': 'u' }, tell: ['RESOLVED node us1'] },
      { minute: 70 },
    ],
  },
  {
    name: 'a node that fails for moments is told to nobody',
    with: { targets: ['a', 'b', 'c'].map((name) => target(name)) },
    rows: [{ minute: 0 }, { minute: 5, see: { '*': 'udu' } }, { minute: 6.1, see: { '*': 'u' } }, { minute: 70 }],
  },
  {
    name: 'a node that is right about an outage is not suspected',
    with: { targets: ['a', 'b', 'c', 'd'].map((name) => target(name)) },
    rows: [
      { minute: 0 },
      { minute: 5, see: { a: 'dud', b: 'dud', c: 'dud', d: 'u' }, tell: ['DOWN c', 'DOWN a', 'DOWN b'] },
      { minute: 20 },
    ],
  },
])('$name', async ({ rows, with: options }) => {
  await using scenario = await startScenario(options);
  await scenario.play(rows);
  expect(scenario.log.filter(({ level }) => level >= 50)).toEqual([]);
});

function up(seen: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.keys(seen).map((name) => [name, 'u']));
}

async function acknowledgeAll({
  monitor,
}: {
  readonly monitor: {
    openIncidents(): readonly { id: string }[];
    acknowledge(id: string, why: string): Promise<unknown>;
  };
}) {
  for (const { id } of monitor.openIncidents()) await monitor.acknowledge(id, 'we know');
}
