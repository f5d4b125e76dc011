import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { isAboutUs } from '#monitor/judge/incident.ts';
import { createNextDue } from '#schedule/schedule.ts';
import { createRemoteWorld, type RemoteWorld } from '../../../support/remote-world.ts';
import { target } from '../../../support/scenario.ts';

// Whatever interrupts the hub, its nodes and the way between them, in whatever order: over the same truth it comes to the same
// incidents, verdict periods and budgets as without, told late but once.

const second = 1_000;
const minute = 60_000;
const everyMs = 10_000;
const nodes = ['de1', 'us1', 'jp1'] as const;
const hosts = ['shop', 'blog', 'cafe', 'mail'] as const;
const lengthMs = 30 * minute;

const targets = hosts.map((name) =>
  target(name, {
    schedule: { kind: 'every', everyMs },
    rules: target(name).rules.map((one) => ({ ...one, rule: { ...one.rule, confirm: false } })),
    objective: { ratio: 0.99, overMs: 3_600_000 },
  }),
);

interface Outage {
  readonly host: (typeof hosts)[number];
  readonly at: number;
  readonly forMs: number;
}

interface Interruption {
  readonly kind: 'kill' | 'freeze' | 'nats' | 'link' | 'restart';
  readonly node: (typeof nodes)[number];
  readonly at: number;
  readonly forMs: number;
}

// Never all targets at once: then our own connectivity would be in doubt.
const outages = fc.array(
  fc.record({
    host: fc.constantFrom(...hosts.slice(0, 3)),
    at: fc.integer({ min: 60, max: 1_300 }).map((at) => at * second),
    // Shorter ones are seen twice only if a round besides the schedule happens to come.
    forMs: fc.integer({ min: 21, max: 300 }).map((ms) => ms * second),
  }),
  { minLength: 1, maxLength: 4 },
);
const interruptions = fc.array(
  fc.record({
    kind: fc.constantFrom('kill', 'freeze', 'nats', 'link', 'restart'),
    node: fc.constantFrom(...nodes),
    at: fc.integer({ min: 60, max: 1_400 }).map((at) => at * second),
    forMs: fc.integer({ min: 3, max: 200 }).map((ms) => ms * second),
  }),
  { minLength: 1, maxLength: 5 },
);

interface Step {
  readonly at: number;
  readonly act: (world: RemoteWorld) => void | Promise<void>;
}

/** Switches something off for as long as any of its reasons lasts. */
function switching(
  off: (world: RemoteWorld) => void | Promise<void>,
  on: (world: RemoteWorld) => void | Promise<void>,
) {
  let count = 0;
  return (at: number, forMs: number): readonly Step[] => [
    { at, act: (world) => (count++ === 0 ? off(world) : undefined) },
    { at: at + forMs, act: (world) => (--count === 0 ? on(world) : undefined) },
  ];
}

function stepsOf(truth: readonly Outage[], mix: readonly Interruption[]): readonly Step[] {
  const hostSwitch = new Map(
    hosts.map((name) => {
      const host = `${name}.example.com:443`;
      return [
        name,
        switching(
          (world) => void world.downs.add(host),
          (world) => void world.downs.delete(host),
        ),
      ];
    }),
  );
  const link = new Map(
    nodes.map((name) => [
      name,
      switching(
        (world) => world.cut(name, false),
        (world) => world.link(name),
      ),
    ]),
  );
  const kill = switching(
    async (world) => world.kill(),
    async (world) => world.back(undefined, targets, true, 0, 0),
  );
  const freeze = switching(
    (world) => world.freeze(),
    (world) => world.thaw(),
  );
  const nats = switching(
    (world) => world.natsIsAway(true),
    (world) => world.natsIsAway(false),
  );
  return [
    ...truth.flatMap(({ host, at, forMs }) => hostSwitch.get(host)?.(at, forMs) ?? []),
    ...mix.flatMap(({ kind, node, at, forMs }): readonly Step[] => {
      if (kind === 'kill') return kill(at, forMs);
      if (kind === 'freeze') return freeze(at, forMs);
      if (kind === 'link') return link.get(node)?.(at, forMs) ?? [];
      if (kind === 'restart') return [{ at, act: (world) => world.nodes.get(node)?.restart() }];
      return [...nats(at, forMs), ...nodes.flatMap((name) => link.get(name)?.(at, forMs) ?? [])];
    }),
  ].toSorted((a, b) => a.at - b.at);
}

async function live(truth: readonly Outage[], mix: readonly Interruption[]) {
  const world = createRemoteWorld(targets, nodes);
  const began = world.clock.now();
  world.start();
  for (const { at, act } of stepsOf(truth, mix)) {
    await world.clock.advance(Math.max(0, began + at - world.clock.now()));
    await act(world);
  }
  await world.clock.advance(Math.max(0, began + lengthMs - world.clock.now()));
  const story = storyOf(world, began);
  await world.end();
  return story;
}

function storyOf({ store, budgets }: RemoteWorld, began: number) {
  const incidents = [...store.incidents.values()].filter(({ target: name }) => !isAboutUs(name));
  const deliveries = incidents.map(({ id }) =>
    store.deliveries.filter(({ incidentId }) => incidentId === id).map(({ kind }) => kind),
  );
  const verdicts = targets.map(({ name, schedule }) => {
    const next = createNextDue(schedule, name);
    const known = new Map(
      store.records.flatMap(({ target: of, dueAt, verdict }) =>
        of === name && verdict !== undefined ? [[dueAt, verdict.status] as const] : [],
      ),
    );
    const rounds: string[] = [];
    for (let due = next(began + minute); due !== null && due < began + lengthMs - minute; due = next(due))
      rounds.push(known.get(due) ?? 'nothing');
    return rounds;
  });
  return {
    incidents: incidents
      .map(({ target: name, startedAt, endedAt }) => ({ name, startedAt, endedAt }))
      .toSorted((a, b) => a.name.localeCompare(b.name) || a.startedAt - b.startedAt),
    deliveries,
    verdicts,
    spent: budgets().map(({ target: name, spentMs }) => ({ name, spentMs })),
  };
}

// The same mixes each time; `MIXES=1000` looks for others.
const wanted = process.env['MIXES'];
const runs = wanted === undefined ? { numRuns: 20, seed: 1 } : { numRuns: Number(wanted) };

const frozenWhileItStarts: [Outage[], Interruption[]] = [
  [{ host: 'shop', at: 357 * second, forMs: 228 * second }],
  [
    { kind: 'link', node: 'us1', at: 289 * second, forMs: 89 * second },
    { kind: 'kill', node: 'jp1', at: 585 * second, forMs: 186 * second },
    { kind: 'freeze', node: 'de1', at: 715 * second, forMs: 124 * second },
  ],
];

const startedWithoutNats: [Outage[], Interruption[]] = [
  [{ host: 'shop', at: 300 * second, forMs: 60 * second }],
  [
    { kind: 'kill', node: 'de1', at: 250 * second, forMs: 100 * second },
    { kind: 'nats', node: 'de1', at: 250 * second, forMs: 200 * second },
  ],
];

test('any mix of interruptions comes to the same incidents, verdicts and budgets as none, told once', async () => {
  await fc.assert(
    fc.asyncProperty(outages, interruptions, async (truth, mix) => {
      const plain = await live(truth, []);
      const mixed = await live(truth, mix);
      expect(mixed.verdicts).toEqual(plain.verdicts);
      // Rounds besides the schedule may see a beginning or an end a moment earlier.
      expect(mixed.incidents.map(({ name }) => name)).toEqual(plain.incidents.map(({ name }) => name));
      for (const [index, { startedAt, endedAt }] of mixed.incidents.entries()) {
        const same = plain.incidents[index];
        expect(Math.abs(startedAt - (same?.startedAt ?? 0))).toBeLessThanOrEqual(everyMs);
        expect(endedAt === null).toBe(same?.endedAt === null);
        expect(Math.abs((endedAt ?? 0) - (same?.endedAt ?? 0))).toBeLessThanOrEqual(everyMs);
      }
      for (const kinds of mixed.deliveries) {
        expect(kinds.filter((kind) => kind === 'opened')).toHaveLength(1);
        expect(kinds.filter((kind) => kind === 'resolved').length).toBeLessThanOrEqual(1);
      }
      for (const [index, { spentMs }] of mixed.spent.entries())
        expect(Math.abs(spentMs - (plain.spent[index]?.spentMs ?? 0))).toBeLessThanOrEqual(4 * everyMs);
    }),
    { ...runs, examples: [frozenWhileItStarts, startedWithoutNats], interruptAfterTimeLimit: 60_000 },
  );
}, 300_000);
