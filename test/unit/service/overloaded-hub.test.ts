import { expect, test } from 'vitest';
import { CheckSpec } from '#checks/index.ts';
import type { AssignedTarget, Observation } from '#protocol/watching.ts';
import { createNextDue } from '#schedule/schedule.ts';
import type { NodeListener, Transport } from '#service/ports.ts';
import { createRuns } from '#service/runs.ts';
import type { CollectedRound } from '#service/target-rounds.ts';
import { WatchService } from '#service/watching.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { down, nodeInfo, up } from '../../support/votes.ts';

const names = ['de1', 'us1', 'jp1'];
const everyMs = 2_000;
const readMs = 0.3;
const judgeMs = 2.1;
const seconds = 40;

function once<Result>(make: () => Result): () => Result {
  let made: { readonly result: Result } | undefined;
  return () => (made ??= { result: make() }).result;
}

/** Three nodes on other machines, and a hub that takes 3 ms for each round of their results: it can do 333 a second. */
async function run(perSecond: number, isUp: (target: string, dueAt: number) => boolean = () => true) {
  const clock = new FakeClock();
  const began = clock.now();
  const judged: (CollectedRound & { readonly target: string; readonly at: number })[] = [];
  let [skipped, late] = [0, 0];
  let listener: NodeListener | null = null;
  let assigned: readonly AssignedTarget[] = [];
  const transport: Transport = {
    nodes: () =>
      names.map((name) => {
        const info = nodeInfo(name);
        return {
          info,
          online: true,
          reason: null,
          keepsTime: true,
          capabilities: {},
          running: 0,
          queued: 0,
          lagSeconds: 0,
        };
      }),
    run: async () => up(),
    assign(node, assignment) {
      assigned = assignment.targets;
      listener?.watching(node, assignment.number, clock.now());
    },
    listen: (next) => void (listener = next),
    close: async () => {},
  };
  using watching = new WatchService({
    transport,
    runs: createRuns(transport, clock),
    policy: 'private',
    onLate: async () => void (late += 1),
    clock,
    log: memoryLog().log,
  });
  for (let index = 0; index < (perSecond * everyMs) / 1_000; index += 1) {
    const spec = CheckSpec.parse({ type: 'tcp', host: '192.0.2.1:80', timeout: '1s' });
    const round = (one: CollectedRound) => {
      clock.hold(judgeMs);
      judged.push({ ...one, target: `t${index}`, at: clock.now() });
    };
    watching.watch(
      { name: `t${index}`, spec, schedule: { kind: 'every', everyMs }, nodes: { kind: 'all' } },
      { hasVerdict: () => true, round, skipped: (count) => void (skipped += count) },
    );
  }
  await clock.advance(10);
  for (let from = began; from < began + seconds * 1_000; from += 1_000) {
    const all = assigned.flatMap(({ name, schedule, revision }): readonly Observation[] => {
      const dueAt = createNextDue(schedule, name)(from) ?? 0;
      if (dueAt > from + 1_000) return [];
      const outcome = isUp(name, dueAt - began) ? up() : down();
      return [{ target: name, revision, dueAt, outcome, startedAt: dueAt }];
    });
    await clock.advance(Math.max(0, from + 1_000 - clock.now()));
    for (const isNews of [true, false]) {
      const some = all.filter(({ outcome }) => (outcome.status !== 'up') === isNews);
      for (let at = 0; at < some.length; at += 256) {
        for (const node of names) {
          const observations = some.slice(at, at + 256);
          const dues = observations.map(({ dueAt }) => dueAt);
          listener!.receive?.({
            node,
            bytes: 250 * observations.length,
            isNews,
            due: { from: Math.min(...dues), until: Math.max(...dues) },
            results: observations.length,
            read() {
              clock.hold(readMs * observations.length);
              return { node, observations, confirm: null };
            },
            skip: () => {},
            postpone: () => {},
          });
        }
      }
    }
  }
  const overload = watching.overload();
  await clock.advance(60_000);
  const rounds = judged.filter(({ dueAt }) => dueAt <= began + seconds * 1_000);
  const votes = rounds.flatMap(({ votes }) => votes);
  const whole = rounds.filter((round) => round.votes.every(({ outcome }) => outcome.status !== 'unknown'));
  const faults = new Set(
    votes.flatMap(({ outcome }) =>
      outcome.status === 'unknown' ? `${outcome.failure.source} ${outcome.failure.code}` : [],
    ),
  );
  return { rounds, whole, faults, skipped, late, overload, began };
}

test('of what it can judge a hub skips nothing', async () => {
  const { rounds, whole, skipped, late, overload } = await run(270);
  expect(rounds.length).toBeGreaterThan(270 * (seconds - 3));
  expect([whole.length, skipped, late, overload]).toEqual([rounds.length, 0, 0, null]);
});

// Four times too much comes in, and a target goes down meanwhile.
const flood = once(() => run(1_300, (target, ms) => target !== 't7' || ms < 20_000));

test.each([
  [500, () => run(500)],
  [1_300, flood],
])(
  'of %d rounds a second a hub judges nearly as many as it can, whole, and never blames a node for the others',
  async (perSecond, play) => {
    const { whole, rounds, faults, skipped, late, overload } = await play();
    expect(whole.length).toBeGreaterThan(270 * seconds);
    expect(whole.length / rounds.length).toBeGreaterThan(0.9);
    expect([...faults].filter((fault) => fault !== 'service service_limited')).toEqual([]);
    expect(rounds.length + skipped).toBeGreaterThan(0.9 * perSecond * (seconds - 10));
    expect(late).toBeLessThan(rounds.length / 20);
    expect(overload).toMatch(/^\d+ results of healthy targets left out in the last minute$/);
    // No target is skipped for ever.
    expect(new Set(whole.map(({ target }) => target)).size).toBe((perSecond * everyMs) / 1_000);
  },
);

test('a target that goes down while four times too much comes in is judged down within seconds, by all votes', async () => {
  const { rounds, began } = await flood();
  const first = rounds.find(({ votes }) => votes.every(({ outcome }) => outcome.status === 'down'));
  expect(first?.target).toBe('t7');
  expect((first?.at ?? 0) - began - 20_000).toBeLessThan(5_000);
});
