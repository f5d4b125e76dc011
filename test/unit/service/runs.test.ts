import { expect, test } from 'vitest';
import { sleep } from '#kernel/clock.ts';
import type { NodeStatus, Transport } from '#service/ports.ts';
import { createRuns } from '#service/runs.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { anySpec, nodeInfo, up } from '../../support/votes.ts';

const status = (name: string): NodeStatus => ({
  info: nodeInfo(name),
  online: true,
  reason: null,
  capabilities: {},
  running: 0,
  queued: 0,
  lagSeconds: 0,
});

/** A transport whose nodes answer after as many milliseconds as the table says. */
function transport(clock: FakeClock, delays: Record<string, number>): Transport & { aborted: string[] } {
  const aborted: string[] = [];
  return {
    aborted,
    nodes: () => Object.keys(delays).map(status),
    async run(node, _command, signal) {
      signal.addEventListener('abort', () => aborted.push(node));
      await sleep(clock, delays[node] ?? 0, signal);
      return up();
    },
    assign: () => {},
    listen: () => {},
    close: async () => {},
  };
}

const request = { spec: anySpec, nodes: { kind: 'all' }, policy: 'private' } as const;

test('every node is asked at the same time and answers in the order of the list', async () => {
  const clock = new FakeClock();
  const runs = createRuns(transport(clock, { de1: 300, us1: 100, jp1: 200 }), clock);
  const running = runs.run(request, new AbortController().signal);
  await clock.advance(300);
  expect((await running).map(({ node, outcome }) => [node.name, outcome.status])).toEqual([
    ['de1', 'up'],
    ['us1', 'up'],
    ['jp1', 'up'],
  ]);
  expect(clock.pending).toBe(0);
});

test('a node that never answers ends as a fault of the node while the others keep their outcome', async () => {
  const clock = new FakeClock();
  const fake = transport(clock, { de1: 100, us1: 1e9 });
  const running = createRuns(fake, clock).run(request, new AbortController().signal);
  await clock.advance(20_000);
  expect((await running).map(({ outcome }) => outcome)).toMatchObject([
    { status: 'up' },
    { status: 'unknown', failure: { source: 'node', code: 'no_answer' } },
  ]);
  expect(fake.aborted).toContain('us1');
});

test('a run without nodes is refused by name', async () => {
  const clock = new FakeClock();
  const runs = createRuns(transport(clock, {}), clock);
  await expect(runs.run(request, new AbortController().signal)).rejects.toMatchObject({ code: 'no_nodes' });
});

test('an aborted run rejects with the reason and lets go of every node', async () => {
  const clock = new FakeClock();
  const fake = transport(clock, { de1: 1e6, us1: 1e6 });
  const stop = new AbortController();
  const running = createRuns(fake, clock).run(request, stop.signal);
  const rejected = expect(running).rejects.toThrow('enough');
  stop.abort(new Error('enough'));
  await rejected;
  expect(fake.aborted.toSorted()).toEqual(['de1', 'us1']);
  expect(clock.pending).toBe(0);
});
