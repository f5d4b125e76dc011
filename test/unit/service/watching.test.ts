import { expect, test } from 'vitest';
import { CheckSpec, type NodeSelection } from '#checks/index.ts';
import type { Assignment, Observation } from '#protocol/watching.ts';
import { createNextDue } from '#schedule/schedule.ts';
import type { NodeListener, NodeStatus, Transport } from '#service/ports.ts';
import type { CollectedRound } from '#service/target-rounds.ts';
import { createRuns } from '#service/runs.ts';
import type { LateObservation } from '#service/target-watch.ts';
import { WatchService } from '#service/watching.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { down, nodeInfo, up } from '../../support/votes.ts';

const hour = 3_600_000;
const all: NodeSelection = { kind: 'all' };

function status(name: string, changes: Partial<NodeStatus> = {}): NodeStatus {
  return {
    info: nodeInfo(name),
    online: true,
    reason: null,
    keepsTime: true,
    capabilities: {},
    running: 0,
    queued: 0,
    lagSeconds: 0,
    ...changes,
  };
}

const hasVerdict = (votes: CollectedRound['votes']) =>
  2 * votes.filter(({ outcome }) => outcome.status !== 'unknown').length >= votes.length;

/** A hub with nodes that do what the test does for them. */
function hub(...names: readonly string[]) {
  const clock = new FakeClock('2026-01-01T00:00:00Z');
  const nodes = new Map(names.map((name) => [name, status(name)]));
  const assignments: { node: string; assignment: Assignment }[] = [];
  const asked: string[] = [];
  const late: LateObservation[] = [];
  const answers = { held: Promise.resolve() };
  const keeping = { fails: false };
  let listener: NodeListener | null = null;
  const transport: Transport = {
    nodes: () => [...nodes.values()],
    async run(node) {
      asked.push(node);
      await answers.held;
      return up();
    },
    assign(node, assignment) {
      assignments.push({ node, assignment });
      listener?.watching(node, assignment.number, clock.now());
    },
    listen: (next) => void (listener = next),
    close: async () => {},
  };
  const watching = new WatchService({
    transport,
    runs: createRuns(transport, clock),
    policy: 'private',
    async onLate(one) {
      if (keeping.fails) throw new Error('no disk');
      late.push(one);
    },
    clock,
    log: memoryLog().log,
  });
  const watch = (name: string, selection: NodeSelection = all, everyMs = 60_000, host = `${name}.example.com:443`) => {
    const rounds: CollectedRound[] = [];
    const left = { skipped: 0 };
    const spec = CheckSpec.parse({ type: 'tcp', host });
    const watched = watching.watch(
      { name, spec, schedule: { kind: 'every', everyMs }, nodes: selection },
      { hasVerdict, round: (round) => void rounds.push(round), skipped: (count) => void (left.skipped += count) },
    );
    return { rounds, left, watched };
  };
  const targetsOf = (node: string) =>
    assignments.findLast((one) => one.node === node)?.assignment.targets.map(({ name }) => name) ?? [];
  const revisionOf = (target: string) =>
    assignments.flatMap(({ assignment }) => assignment.targets).findLast(({ name }) => name === target)?.revision ?? '';
  const see = (
    node: string,
    target: string,
    dueAt: number,
    changes: Partial<Observation> = {},
    settle: (() => void) | null = null,
  ) =>
    listener?.seen(
      node,
      [{ target, revision: revisionOf(target), dueAt, outcome: up(), startedAt: dueAt, ...changes }],
      settle,
    );
  /** A node says since when it watches this assignment; infinity if it watches none. */
  const sayWatching = (node: string, number: number, since: number) => listener?.watching(node, number, since);
  const passOver = (node: string, from: number, until: number, checks = 1) =>
    listener?.passedOver?.(node, { checks, due: { from, until } });
  return {
    clock,
    nodes,
    assignments,
    asked,
    answers,
    late,
    keeping,
    watching,
    watch,
    targetsOf,
    revisionOf,
    see,
    sayWatching,
    passOver,
  };
}

test('many targets are one assignment for each node, and one that does not change is not sent again', async () => {
  const { clock, assignments, watch, targetsOf, watching } = hub('de1', 'us1');
  for (let index = 0; index < 100; index += 1) watch(`t${index}`);
  await clock.advance(5_000);
  expect(assignments.map(({ node, assignment }) => [node, assignment.targets.length])).toEqual([
    ['de1', 100],
    ['us1', 100],
  ]);
  watch('more', { kind: 'named', names: ['us1'] });
  await clock.advance(5_000);
  expect(assignments).toHaveLength(3);
  expect(targetsOf('us1')).toContain('more');
  watching[Symbol.dispose]();
});

test('where many targets come, due times become finer a while later, for all alike, and no round is lost', async () => {
  const { clock, assignments, watch, see, watching } = hub('de1');
  const slots = () =>
    new Set(assignments.at(-1)?.assignment.targets.map(({ schedule }) => JSON.stringify(schedule.slots)));
  const { rounds } = watch('first', all, 10_000);
  await clock.advance(1_000);
  const wide = { ms: 1_000, since: 0, beforeMs: 1_000 };
  expect(slots()).toEqual(new Set([JSON.stringify(wide)]));
  for (let index = 0; index < 700; index += 1) watch(`t${index}`, all, 10_000);
  await clock.advance(1_000);
  const since = clock.now() - 1_000 + 30_000;
  expect(slots()).toEqual(new Set([JSON.stringify({ ms: 50, since, beforeMs: 1_000 })]));
  const sent = assignments.length;
  const mine = assignments.at(-1)?.assignment.targets.find(({ name }) => name === 'first');
  if (mine === undefined) throw new Error('it is not watched');
  const next = createNextDue(mine.schedule, 'first');
  const dues: number[] = [];
  for (let due = next(clock.now()); due !== null && dues.length < 10; due = next(due)) dues.push(due);
  for (const due of dues) {
    await clock.advance(due - clock.now());
    see('de1', 'first', due);
    await clock.advance(1);
  }
  expect(rounds.map(({ dueAt }) => dueAt)).toEqual(dues);
  expect(rounds.every(({ votes }) => votes[0]?.outcome.status === 'up')).toBe(true);
  expect(dues.some((due) => due % 1_000 !== 0)).toBe(true);
  expect(assignments).toHaveLength(sent);
  watching[Symbol.dispose]();
});

test('a width that was told of and does not hold yet is not exchanged; the next one is told of when it does', async () => {
  const { clock, assignments, watch, watching } = hub('de1');
  const slots = () => assignments.at(-1)?.assignment.targets[0]?.schedule.slots;
  watch('first', all, 10_000);
  await clock.advance(1_000);
  for (let index = 0; index < 700; index += 1) watch(`t${index}`, all, 10_000);
  const told = clock.now();
  await clock.advance(1_000);
  for (let index = 0; index < 7_000; index += 1) watch(`u${index}`, all, 10_000);
  await clock.advance(20_000);
  expect(slots()).toEqual({ ms: 50, since: told + 30_000, beforeMs: 1_000 });
  expect(assignments.at(-1)?.assignment.targets).toHaveLength(7_701);
  await clock.advance(20_000);
  expect(slots()).toMatchObject({ ms: 10, beforeMs: 50 });
  expect(slots()?.since).toBeGreaterThan(told + 60_000);
  watching[Symbol.dispose]();
});

test('two of ten nodes are a stable choice: where one goes, only its targets move', async () => {
  const names = Array.from({ length: 10 }, (_, index) => `n${index}`);
  const { clock, nodes, watch, targetsOf, watching } = hub(...names);
  const targets = Array.from({ length: 60 }, (_, index) => `t${index}`);
  for (const name of targets) watch(name, { kind: 'count', count: 2, avoid: [] });
  await clock.advance(1_000);
  const before = new Map(names.map((node) => [node, targetsOf(node)]));
  expect([...before.values()].flat()).toHaveLength(120);
  expect(Math.min(...[...before.values()].map((own) => own.length))).toBeGreaterThan(2);
  nodes.set('n3', status('n3', { online: false, reason: 'gone' }));
  await clock.advance(2_000);
  for (const node of names.filter((name) => name !== 'n3')) {
    expect(targetsOf(node)).toEqual(expect.arrayContaining([...(before.get(node) ?? [])]));
  }
  expect(targetsOf('n3')).toEqual([]);
  watching[Symbol.dispose]();
});

test('a node that does not keep the time is asked when the target is due, beside one that does', async () => {
  const { clock, nodes, asked, assignments, watch, watching } = hub('de1', 'old');
  nodes.set('old', status('old', { keepsTime: false }));
  const { rounds, watched } = watch('shop');
  while (!watched.underWay) await clock.advance(100);
  expect(asked).toEqual(['old']);
  expect(assignments.map(({ node }) => node)).toEqual(['de1']);
  expect(rounds).toEqual([]);
  expect(watched.underWay).toBe(true);
  nodes.set('de1', status('de1', { online: false, reason: 'the link is cut' }));
  await clock.advance(1_000);
  expect(rounds.map(({ votes }) => votes.map(({ outcome }) => outcome.status))).toEqual([['unknown', 'up']]);
  watching[Symbol.dispose]();
  expect(clock.pending).toBe(0);
});

test('a node that says it watches nothing is waited for no longer', async () => {
  const { clock, assignments, watch, see, sayWatching, watching } = hub('de1', 'us1');
  const { rounds } = watch('shop');
  await clock.advance(1_000);
  const mine = assignments[0]?.assignment.targets[0];
  if (mine === undefined) throw new Error('it is not watched');
  const dueAt = createNextDue(mine.schedule, 'shop')(clock.now()) ?? Number.NaN;
  await clock.advance(dueAt - clock.now());
  see('de1', 'shop', dueAt);
  await clock.advance(3_000);
  expect(rounds).toEqual([]);
  sayWatching('us1', 1, Number.POSITIVE_INFINITY);
  await clock.advance(1_000);
  expect(rounds.map(({ votes }) => votes.map(({ outcome }) => outcome.status))).toEqual([['up', 'unknown']]);
  watching[Symbol.dispose]();
});

test('a vote that is missing because its node has more to check than it can says so', async () => {
  const { clock, watch, see, passOver, watching } = hub('de1', 'us1');
  const { rounds } = watch('shop');
  await clock.advance(1_000);
  const due = createNextDue({ kind: 'every', everyMs: 60_000 }, 'shop')(clock.now()) ?? 0;
  await clock.advance(due - clock.now() + 100);
  see('us1', 'shop', due);
  expect(watching.overloadedNodes()).toEqual([]);
  passOver('de1', due - 100, due + 100, 2);
  passOver('de1', due - 100, due + 200);
  passOver('us1', due - 100, due - 50, 4);
  expect(watching.overloadedNodes()).toEqual([
    { node: 'us1', checks: 4 },
    { node: 'de1', checks: 3 },
  ]);
  await clock.advance(30_000);
  expect(rounds.map(({ votes }) => votes.map(({ node, outcome }) => [node.name, outcome.status]))).toEqual([
    [
      ['de1', 'unknown'],
      ['us1', 'up'],
    ],
  ]);
  const [missing] = rounds[0]?.votes ?? [];
  expect(missing?.outcome).toMatchObject({
    failure: { code: 'busy', message: 'the node has more to check than it can manage' },
  });
  await clock.advance(60_000);
  expect(watching.overloadedNodes()).toEqual([]);
  watching[Symbol.dispose]();
});

test('what a node is asked for is waited for when the target is due again meanwhile, and only that one is left out', async () => {
  const { clock, nodes, asked, answers, watch, watching } = hub('old');
  nodes.set('old', status('old', { keepsTime: false }));
  const { promise, resolve } = Promise.withResolvers<void>();
  answers.held = promise;
  const { rounds, left } = watch('shop', all, 2_000);
  while (asked.length === 0) await clock.advance(100);
  const first = clock.now();
  await clock.advance(3_000);
  expect([asked.length, rounds.length, left.skipped]).toEqual([1, 0, 0]);
  resolve();
  await clock.advance(500);
  expect(rounds.map(({ votes }) => votes.map(({ outcome }) => outcome.status))).toEqual([['up']]);
  expect(first - (rounds[0]?.dueAt ?? 0)).toBeLessThan(100);
  await clock.advance(2_000);
  expect([left.skipped, rounds.length, asked.length]).toEqual([1, 2, 2]);
  watching[Symbol.dispose]();
});

test('what a node was asked for is kept as late when it came to the next due time by itself before it answered', async () => {
  const { clock, nodes, asked, answers, late, see, watch, watching } = hub('de1');
  nodes.set('de1', status('de1', { keepsTime: false }));
  const { promise, resolve } = Promise.withResolvers<void>();
  answers.held = promise;
  const { rounds } = watch('shop', all, 2_000);
  while (asked.length === 0) await clock.advance(100);
  const dueAt = Math.floor(clock.now() / 100) * 100 - 100;
  nodes.set('de1', status('de1'));
  await clock.advance(4_000);
  const next = createNextDue({ kind: 'every', everyMs: 2_000 }, 'shop')(dueAt + 200) ?? 0;
  see('de1', 'shop', next);
  await clock.advance(1_000);
  expect(rounds.map((round) => round.dueAt)).toEqual([next]);
  resolve();
  await clock.advance(10_000);
  expect(late).toMatchObject([{ target: 'shop', dueAt: next - 2_000, outcome: { status: 'up' } }]);
  watching[Symbol.dispose]();
});

test('what is of another revision or of a node that was not asked is no vote, what is late is kept as late, and who waits is told once it is stored', async () => {
  const { clock, watch, see, late, watching } = hub('de1', 'us1', 'us2');
  const { rounds } = watch('shop', { kind: 'named', names: ['de1', 'us1'] });
  await clock.advance(1_000);
  const dueAt = clock.now() + 10_000;
  const settled: string[] = [];
  const settle = (what: string) => () => void settled.push(what);
  see('de1', 'shop', dueAt, { revision: 'another', outcome: down() }, settle('another'));
  expect(settled).toEqual(['another']);
  see('de1', 'shop', dueAt, {}, settle('in time'));
  await clock.advance(60_000);
  expect(rounds.find((round) => round.dueAt === dueAt)?.votes.map(({ outcome }) => outcome.status)).toEqual([
    'up',
    'unknown',
  ]);
  expect(settled).toEqual(['another']);
  watching.stored(`shop/${dueAt}`);
  expect(settled).toEqual(['another', 'in time']);
  see('us1', 'shop', dueAt, {}, settle('late'));
  await clock.advance(0);
  expect(late).toMatchObject([{ target: 'shop', dueAt, node: { name: 'us1' } }]);
  expect(settled).toEqual(['another', 'in time', 'late']);
  const next = dueAt + 60_000;
  see('us2', 'shop', next, { outcome: down() }, settle('uncalled'));
  expect(settled.at(-1)).toBe('uncalled');
  see('us1', 'removed', dueAt, {}, settle('removed'));
  expect(settled.at(-1)).toBe('removed');
  watching[Symbol.dispose]();
});

test('a node whose vote came after its round was judged is told once the round was judged again and stored', async () => {
  const { clock, nodes, watch, see, watching } = hub('de1', 'us1', 'jp1');
  for (const away of ['de1', 'jp1']) nodes.set(away, status(away, { online: false, reason: 'the link is cut' }));
  const { rounds } = watch('shop');
  await clock.advance(1_000);
  const due = createNextDue({ kind: 'every', everyMs: 60_000 }, 'shop')(clock.now()) ?? 0;
  await clock.advance(due - clock.now() + 100);
  const told: string[] = [];
  see('us1', 'shop', due, {}, () => told.push('us1'));
  await clock.advance(30_000);
  const judged = () => rounds.filter((round) => round.dueAt === due).map(({ isRevision = false }) => isRevision);
  expect(judged()).toEqual([false]);
  nodes.set('de1', status('de1'));
  see('de1', 'shop', due, {}, () => told.push('de1'));
  watching.stored(`shop/${due}`);
  expect(told).toEqual(['us1']);
  await clock.advance(10_000);
  expect(judged()).toEqual([false, true]);
  watching.stored(`shop/${due}`);
  expect(told).toEqual(['us1', 'de1']);
  watching[Symbol.dispose]();
});

test('a target that is to stop ends once its round that runs is over', async () => {
  const { clock, watch, see, watching } = hub('de1');
  const { rounds, watched } = watch('shop', all, 10_000);
  let isOver = false;
  void watched.ended.then(() => (isOver = true));
  while (!watched.underWay) await clock.advance(100);
  watched.stop();
  await clock.advance(1_000);
  expect(isOver).toBe(false);
  see('de1', 'shop', Math.floor(clock.now() / 100) * 100 - 1_000);
  await clock.advance(0);
  expect(isOver).toBe(true);
  expect(rounds).toHaveLength(1);
  watching[Symbol.dispose]();
  expect(clock.pending).toBe(0);
});

test('a program that ends takes nothing from its nodes: they go on without it', async () => {
  const { clock, watch, targetsOf, watching } = hub('de1');
  const { watched } = watch('shop');
  await clock.advance(1_000);
  watching.leave();
  watched.stop();
  await clock.advance(5_000);
  expect(targetsOf('de1')).toEqual(['shop']);
  watching[Symbol.dispose]();
  await clock.advance(5_000);
  expect(targetsOf('de1')).toEqual(['shop']);
});

test.each([
  [true, []],
  [false, ['shop']],
])(
  'what nodes saw of a target that is not watched any more is theirs if the program ends (%s)',
  async (isEnd, taken) => {
    const { clock, watch, see, watching } = hub('de1');
    const { watched } = watch('shop');
    watch('other');
    await clock.advance(1_000);
    if (isEnd) watching.leave();
    watched.stop();
    await clock.advance(5_000);
    const settled: string[] = [];
    see('de1', 'shop', clock.now(), {}, () => void settled.push('shop'));
    await clock.advance(1_000);
    expect(settled).toEqual(taken);
    watching[Symbol.dispose]();
  },
);

test('what nodes tell before anything is watched waits until it is', async () => {
  const { clock, watch, see, late, watching } = hub('de1');
  const settled: string[] = [];
  const dueAt = clock.now() - 60_000;
  see('de1', 'shop', dueAt, {}, () => void settled.push('early'));
  expect(settled).toEqual([]);
  watch('shop');
  await clock.advance(1_000);
  expect(settled).toEqual(['early']);
  expect(late).toMatchObject([{ target: 'shop', dueAt, node: { name: 'de1' } }]);
  watching[Symbol.dispose]();
});

test('a node has its vote from its first word on, not from when nodes are looked at next', async () => {
  const { clock, nodes, watch, see, watching } = hub('de1', 'us1');
  nodes.set('de1', status('de1', { online: false, reason: 'it has not reported since the hub started' }));
  const { rounds } = watch('shop', { kind: 'count', count: 1, avoid: [] }, 10_000);
  const stored: string[] = [];
  await clock.advance(1_000);
  nodes.set('de1', status('de1'));
  nodes.set('us1', status('us1', { online: false, reason: 'gone' }));
  const dueAt = clock.now();
  see('de1', 'shop', dueAt, {}, () => void stored.push('de1'));
  expect(stored).toEqual([]);
  await clock.advance(1_000);
  expect(rounds.find((round) => round.dueAt === dueAt)?.votes.map(({ node }) => node.name)).toEqual(['de1']);
  watching.stored(`shop/${dueAt}`);
  expect(stored).toEqual(['de1']);
  watching[Symbol.dispose]();
});

test('a target that is watched anew in the same way waits for all its nodes', async () => {
  const { clock, watch, see, watching } = hub('de1', 'us1');
  const { watched } = watch('shop');
  await clock.advance(100);
  watched.cut();
  const { rounds } = watch('shop');
  await clock.advance(100);
  const due = createNextDue({ kind: 'every', everyMs: 60_000 }, 'shop')(clock.now()) ?? 0;
  await clock.advance(due - clock.now() + 50);
  see('de1', 'shop', due);
  await clock.advance(1_000);
  expect(rounds).toEqual([]);
  see('us1', 'shop', due);
  await clock.advance(1_000);
  expect(rounds.map(({ votes }) => votes.map(({ node, outcome }) => [node.name, outcome.status]))).toEqual([
    [
      ['de1', 'up'],
      ['us1', 'up'],
    ],
  ]);
  watching[Symbol.dispose]();
});

test('what nodes saw by an earlier check is stored as late if it was due before this one began, and is no vote', async () => {
  const { clock, watch, see, late, keeping, revisionOf, watching } = hub('de1');
  const before = watch('shop', all, 10_000);
  await clock.advance(1_000);
  const revision = revisionOf('shop');
  before.watched.cut();
  await clock.advance(30_000);
  const since = clock.now();
  const { rounds } = watch('shop', all, 10_000, 'other.example.com:443');
  await clock.advance(1_000);
  expect(revisionOf('shop')).not.toBe(revision);
  const settled: string[] = [];
  const seeEarlier = async (dueAt: number, what: string) => {
    see('de1', 'shop', dueAt, { revision, outcome: down() }, () => void settled.push(what));
    await clock.advance(0);
  };
  keeping.fails = true;
  await seeEarlier(since - 5_000, 'not stored');
  expect([late, settled]).toEqual([[], []]);
  keeping.fails = false;
  await seeEarlier(since - 5_000, 'due before');
  await seeEarlier(since, 'due when it began');
  expect(late).toMatchObject([
    {
      target: 'shop',
      dueAt: since - 5_000,
      node: { name: 'de1' },
      outcome: { status: 'down' },
      isOfEarlierCheck: true,
    },
    { target: 'shop', dueAt: since, isOfEarlierCheck: true },
  ]);
  await seeEarlier(since + 1, 'due after');
  expect(late).toHaveLength(2);
  expect(settled).toEqual(['due before', 'due when it began', 'due after']);
  await clock.advance(60_000);
  expect(rounds.flatMap(({ votes }) => votes.filter(({ outcome }) => outcome.status !== 'unknown'))).toEqual([]);
  watching[Symbol.dispose]();
});

test.each([
  ['is there', true],
  ['is away', false],
])('a target that is added while its node %s has no rounds from before', async (_, isThere) => {
  const { clock, nodes, watch, watching } = hub('de1');
  watch('other', all, 10_000);
  await clock.advance(120_000);
  if (!isThere) nodes.set('de1', status('de1', { online: false, reason: 'the link is cut' }));
  await clock.advance(3_000);
  const since = clock.now();
  const { rounds } = watch('shop', all, 10_000);
  await clock.advance(60_000);
  expect(rounds.filter(({ dueAt }) => dueAt <= since)).toEqual([]);
  if (!isThere) expect(rounds).toHaveLength(6);
  watching[Symbol.dispose]();
});

test('a target that is watched anew goes on where it ended, though the thread was held up in between', async () => {
  const { clock, watch, watching, see } = hub('de1');
  const first = watch('shop', all, 10_000);
  await clock.advance(25_000);
  first.watched.stop();
  first.watched.cut();
  clock.hold(3_000);
  const { rounds } = watch('shop', all, 10_000);
  const due = createNextDue({ kind: 'every', everyMs: 10_000 }, 'shop')(clock.now() - 3_000) ?? Number.NaN;
  see('de1', 'shop', due);
  await clock.advance(1_000);
  expect(rounds.map(({ dueAt }) => dueAt)).toEqual([due]);
  watching[Symbol.dispose]();
});

test.each([
  ['goes on', false],
  ['says so again, by the time that it knew', true],
])(
  'a target that was added while the clock was ahead is watched as ever once it is right: its node %s',
  async (_, isRepeated) => {
    const { clock, assignments, sayWatching, watch, watching, see } = hub('de1', 'us1');
    watch('other', all, 10_000);
    await clock.advance(20_000);
    clock.step(5 * hour);
    await clock.advance(3_000);
    const { rounds } = watch('shop', all, 10_000);
    await clock.advance(3_000);
    clock.step(-5 * hour);
    await clock.advance(3_000);
    if (isRepeated)
      for (const { node, assignment } of assignments.slice(-2))
        for (const since of [Number.POSITIVE_INFINITY, clock.now() + 5 * hour])
          sayWatching(node, assignment.number, since);
    const next = createNextDue({ kind: 'every', everyMs: 10_000 }, 'shop');
    for (let times = 0; times < 3; times += 1) {
      const due = next(clock.now()) ?? Number.NaN;
      await clock.advance(due + 2_000 - clock.now());
      for (const node of ['de1', 'us1']) see(node, 'shop', due);
      await clock.advance(100);
      expect(rounds.at(-1)?.dueAt).toBe(due);
      expect(rounds.at(-1)?.votes.map(({ outcome }) => outcome.status)).toEqual(['up', 'up']);
    }
    watching[Symbol.dispose]();
  },
);

test('a check that a node passes over right after the clock was set back is not its fault, and later ones are', async () => {
  const { clock, watch, see } = hub('de1', 'us1');
  const { rounds } = watch('shop', all, 1_000);
  await clock.advance(3_000);
  clock.step(-hour);
  const back = clock.now();
  await clock.advance(1_000);
  const dues = [2, 3, 20, 21].map((after) => back + after * 1_000);
  const passedOver = [dues[0], dues[2]];
  for (const dueAt of dues) {
    await clock.advance(Math.max(0, dueAt - clock.now()));
    for (const node of ['de1', 'us1']) if (node === 'de1' || !passedOver.includes(dueAt)) see(node, 'shop', dueAt);
  }
  const missing = rounds.flatMap(({ dueAt, votes }) =>
    votes.flatMap(({ outcome }) => (outcome.status === 'unknown' ? [[dueAt - back, outcome.failure.code]] : [])),
  );
  expect(missing).toEqual([
    [2_000, 'service_limited'],
    [20_000, 'busy'],
  ]);
});
