import { expect, test } from 'vitest';
import { CheckSpec } from '#checks/index.ts';
import type { AssignedTarget, Observation } from '#protocol/watching.ts';
import { createNextDue } from '#schedule/schedule.ts';
import type { NodeListener, Transport } from '#service/ports.ts';
import { createOverload } from '#service/overload.ts';
import type { TargetWatch, WatchHandle } from '#service/target-watch.ts';
import { createRuns } from '#service/runs.ts';
import { WatchService } from '#service/watching.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { down, nodeInfo, up } from '../../support/votes.ts';

const everyMs = 1_000;
const judgeMs = 1;

/** A hub that takes a millisecond for each round that it judges, and a tenth of that to keep a result. */
async function hub(targets: number) {
  const clock = new FakeClock();
  const { log, lines } = memoryLog();
  const judged = new Map<string, number[]>();
  const late = new Map<string, number[]>();
  let skipped = 0;
  let listener: NodeListener | null = null;
  let assigned: readonly AssignedTarget[] = [];
  const status = { info: nodeInfo('zz1'), online: true, reason: null, keepsTime: true } as const;
  const transport: Transport = {
    nodes: () => [{ ...status, capabilities: {}, running: 0, queued: 0, lagSeconds: 0 }],
    run: async () => up(),
    assign(node, assignment) {
      assigned = assignment.targets;
      listener?.watching(node, assignment.number, clock.now());
    },
    listen: (next) => void (listener = next),
    close: async () => {},
  };
  const note = (where: Map<string, number[]>, target: string, dueAt: number) =>
    void where.set(target, [...(where.get(target) ?? []), dueAt]);
  const watching = new WatchService({
    transport,
    runs: createRuns(transport, clock),
    policy: 'private',
    async onLate({ target, dueAt }) {
      clock.hold(judgeMs / 10);
      note(late, target, dueAt);
    },
    clock,
    log,
  });
  const watched = new Map<string, WatchHandle>();
  const names = Array.from({ length: targets }, (_, index) => `target-${index}`);
  const schedule = { kind: 'every' as const, everyMs };
  for (const name of names) {
    const spec = CheckSpec.parse({ type: 'tcp', host: '192.0.2.1:80' });
    const round = ({ dueAt }: { dueAt: number }) => {
      clock.hold(judgeMs);
      note(judged, name, dueAt);
    };
    const sink = { hasVerdict: () => true, round, skipped: (count: number) => void (skipped += count) };
    watched.set(name, watching.watch({ name, spec, schedule, nodes: { kind: 'all' } }, sink));
  }
  let from = clock.now();
  await clock.advance(10);
  let offered = 0;

  const all = names;

  /** The node looks at these targets for a second of the wall clock, and tells all of it at its end. */
  async function second(isUp: (name: string) => boolean, names: readonly string[] = all): Promise<void> {
    const until = from + 1_000;
    const seen: Observation[] = [];
    const wanted = new Set(names);
    for (const { name, schedule, revision } of assigned.filter((one) => wanted.has(one.name))) {
      const next = createNextDue(schedule, name);
      for (let dueAt = next(from); dueAt !== null && dueAt <= until; dueAt = next(dueAt)) {
        const outcome = isUp(name) ? up() : down();
        seen.push({ target: name, revision, dueAt, outcome, startedAt: dueAt });
      }
    }
    offered += seen.length;
    from = until;
    if (clock.now() < until) await clock.advance(until - clock.now());
    for (let index = 0; index < seen.length; index += 256) listener?.seen('zz1', seen.slice(index, index + 256), null);
    await clock.advance(0);
  }
  const countOf = (where: Map<string, number[]>) => [...where.values()].reduce((sum, { length }) => sum + length, 0);
  return {
    clock,
    lines,
    watching,
    second,
    /** Only these are watched from now on. */
    goOn: (left: readonly string[]) => {
      for (const [name, one] of watched) if (!left.includes(name)) one.cut();
      from = clock.now();
    },
    judged,
    late,
    counts: () => ({ offered, judged: countOf(judged), late: countOf(late), skipped }),
  };
}

const allUp = () => true;

test('what can be judged is, and nothing is left out', async () => {
  const { clock, second, counts, watching } = await hub(400);
  for (let count = 0; count < 10; count += 1) await second(allUp);
  await clock.advance(1_000);
  const { offered, judged, late, skipped } = counts();
  expect([judged, late, skipped]).toEqual([offered, 0, 0]);
  expect(watching.overload()).toBeNull();
});

test('of twice of what can be judged the rest is left out, counted, stored and told, while others have their turn', async () => {
  const { clock, second, counts, watching, lines } = await hub(2_000);
  let longestMs = 0;
  let last = clock.elapsed();
  const beat = () => {
    longestMs = Math.max(longestMs, clock.elapsed() - last);
    last = clock.elapsed();
    timer = clock.after(20, beat);
  };
  let timer = clock.after(20, beat);
  for (let count = 0; count < 30; count += 1) await second(allUp);
  expect(watching.overload()).toMatch(/^\d+ rounds of healthy targets left out in the last minute$/);
  await clock.advance(10_000);
  timer[Symbol.dispose]();
  const { offered, judged, late, skipped } = counts();
  expect(judged + late).toBe(offered);
  expect(skipped).toBe(late);
  expect(judged).toBeGreaterThan(offered / 3);
  expect(late).toBeGreaterThan(offered / 10);
  // A turn of reading, beside the wait of the one that looks.
  expect(longestMs).toBeLessThan(100);
  const told = lines.filter(({ msg }) => msg === 'more comes in than can be judged: rounds are left out');
  expect(told).toHaveLength(1);
});

test('what is down is judged in every round, and rounds are judged again once less comes in', async () => {
  const { clock, second, goOn, judged, late, counts, watching } = await hub(2_000);
  const isUp = (name: string) => name !== 'target-7';
  for (let count = 0; count < 20; count += 1) await second(isUp);
  await clock.advance(10_000);
  expect(late.has('target-7')).toBe(false);
  expect(judged.get('target-7')).toHaveLength(20);
  const { late: lateBefore } = counts();
  const leftOut = [...late.keys()].slice(0, 300);
  const judgedOf = () => leftOut.map((name) => judged.get(name)?.length ?? 0);
  expect(leftOut).toHaveLength(300);
  expect(Math.min(...judgedOf())).toBeGreaterThan(0);
  goOn(leftOut);
  await second(isUp, leftOut);
  const settled = judgedOf();
  for (let count = 0; count < 20; count += 1) await second(isUp, leftOut);
  await clock.advance(1_000);
  expect(counts().late).toBe(lateBefore);
  const more = judgedOf().map((count, index) => count - (settled[index] ?? 0));
  expect(Math.min(...more)).toBeGreaterThanOrEqual(20);
  await clock.advance(60_000);
  expect(watching.overload()).toBeNull();
});

test('of one target nine rounds in a row are left out, and the tenth is judged', () => {
  const overload = createOverload(new FakeClock(), memoryLog().log, () => ({
    came: 0,
    read: 0,
    skipped: 0,
    waitedMs: 0,
  }));
  let asked = 0;
  const rounds = { leaveOut: () => (asked += 1) > 0 };
  const place = { badAt: Number.NEGATIVE_INFINITY, leftOut: 0, assigned: { revision: 'one' }, rounds };
  const isLeftOut = Array.from({ length: 20 }, (_, dueAt) => {
    const before = asked;
    const observation = { target: 'shop', revision: 'one', dueAt, outcome: up(), startedAt: dueAt };
    overload.skipResult(place as unknown as TargetWatch, observation);
    return asked > before;
  });
  expect(isLeftOut.flatMap((left, index) => (left ? [] : [index + 1]))).toEqual([10, 20]);
});
