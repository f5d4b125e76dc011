import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { CheckSpec } from '#checks/index.ts';
import { systemClock } from '#kernel/clock.ts';
import type { AssignedTarget, Observation } from '#protocol/watching.ts';
import { createNextDue } from '#schedule/schedule.ts';
import type { NodeListener, Transport } from '#service/ports.ts';
import { createRuns } from '#service/runs.ts';
import { WatchService } from '#service/watching.ts';
import { eventually } from '../support/program.ts';
import { memoryLog } from '../support/memory-log.ts';
import { nodeInfo, up } from '../support/votes.ts';

const judgeMs = 2;
const everyMs = 1_000;

test('a thread that gets more than it can judge leaves rounds out, and answers HTTP meanwhile', async () => {
  const { log } = memoryLog();
  let [judged, late, skipped] = [0, 0, 0];
  let listener: NodeListener | null = null;
  let assigned: readonly AssignedTarget[] = [];
  const status = { info: nodeInfo('zz1'), online: true, reason: null, keepsTime: true } as const;
  const transport: Transport = {
    nodes: () => [{ ...status, capabilities: {}, running: 0, queued: 0, lagSeconds: 0 }],
    run: async () => up(),
    assign(node, assignment) {
      assigned = assignment.targets;
      listener?.watching(node, assignment.number, systemClock.now() - everyMs);
    },
    listen: (next) => void (listener = next),
    close: async () => {},
  };
  using watching = new WatchService({
    transport,
    runs: createRuns(transport, systemClock),
    policy: 'private',
    onLate: async () => void (late += 1),
    clock: systemClock,
    log,
  });
  const schedule = { kind: 'every' as const, everyMs };
  const names = Array.from({ length: 3_000 }, (_, index) => `target-${index}`);
  const sink = {
    hasVerdict: () => true,
    round() {
      judged += 1;
      // As busy as a machine that is too small.
      for (const end = performance.now() + judgeMs; performance.now() < end;);
    },
    skipped: (count: number) => void (skipped += count),
  };
  for (const name of names) {
    const spec = CheckSpec.parse({ type: 'tcp', host: '192.0.2.1:80' });
    watching.watch({ name, spec, schedule, nodes: { kind: 'all' } }, sink);
  }
  await eventually(10_000, () => expect(assigned).toHaveLength(names.length));

  const server = createServer((_, response) => response.end('ok')).listen(0, '127.0.0.1');
  await using _ = server;
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const began = systemClock.now();
  await eventually(10_000, () => expect(systemClock.now()).toBeGreaterThan(began + everyMs));
  const observations = assigned.map((target): Observation => {
    const dueAt = createNextDue(target.schedule, target.name)(began) ?? began;
    return { target: target.name, revision: target.revision, dueAt, outcome: up(), startedAt: dueAt };
  });
  for (let index = 0; index < observations.length; index += 256)
    listener!.seen('zz1', observations.slice(index, index + 256), null);
  let answers = 0;
  for (; judged + late < names.length && answers < 100_000; answers += 1) {
    const answer = await fetch(`http://127.0.0.1:${port}/`);
    expect(await answer.text()).toBe('ok');
  }
  expect(answers).toBeGreaterThan(5);
  expect(late).toBeGreaterThan(0);
  expect(judged).toBeGreaterThan(0);
  expect(judged + late).toBe(names.length);
  // Rounds that nobody looked at meanwhile are counted too.
  expect(skipped).toBeGreaterThanOrEqual(late);
  expect(watching.overload()).toMatch(/^\d+ rounds of healthy targets left out in the last minute$/);
});
