import { createLog } from '#kernel/log.ts';
import { systemClock } from '#kernel/clock.ts';
import { createMetrics, type Metrics } from '#metrics/metrics.ts';
import { round, watched } from '../../support/metrics.ts';
import { nodeInfo, up } from '../../support/votes.ts';

// What metrics cost: a vote on the way in, and a scrape with the longest time it holds the event loop, at many targets on few nodes
// and at very many on two. By CPU, which other work on the machine changes less than what the clock says.
const passes = 5;
for (const [targets, nodes] of [
  [1_000, 5],
  [10_000, 2],
] as const) {
  console.log(`${targets.toLocaleString('en')} targets on ${nodes} nodes`);
  await measure(targets, nodes);
}

async function measure(targetCount: number, nodeCount: number): Promise<void> {
  const names = Array.from({ length: targetCount }, (_, index) => `target-${index}`);
  const nodes = Array.from({ length: nodeCount }, (_, index) => nodeInfo(`de${index + 1}`));
  const metrics = createMetrics({
    clock: systemClock,
    log: createLog({ level: 'warn', pretty: false, fd: 2 }),
    version: 'bench',
    sources: {
      nodes: () => nodes.map((info) => ({ info, up: true, eventLoopLagSeconds: 0 })),
      deliveries: () => [],
      store: () => ({ bytes: 0, queued: 0, unsealedSeconds: 0 }),
      budgets: () => [],
      lists: () => [],
      unreported: () => 0,
      lateness: () => ({ p50: 0, p99: 0, max: 0 }),
    },
  });
  metrics.targetsChanged(names.map((name) => watched(name)));
  measureVotes(metrics, names, nodes);
  for (let pass = 0; pass < passes; pass += 1) await measureScrape(metrics);
}

function measureVotes(metrics: Metrics, names: readonly string[], nodes: readonly ReturnType<typeof nodeInfo>[]): void {
  const phases = { resolve: 0.001, connect: 0.002, tls: 0.004, first_byte: 0.01, transfer: 0.003 };
  const outcomes = Array.from({ length: 997 }, (_, index) => up(0.02 * (1 + index / 997), { phases }));
  const turns = Math.ceil(100_000 / (names.length * nodes.length));
  const perVote: string[] = [];
  for (let pass = 0, next = 0; pass < passes; pass += 1) {
    const cpu = process.cpuUsage();
    for (let turn = 0; turn < turns; turn += 1) {
      for (const name of names) {
        const startedAt = systemClock.now();
        const votes = nodes.map((node) => ({ node, outcome: outcomes[next++ % 997] ?? up(), startedAt }));
        metrics.roundDone(round(name, { votes, dueAt: startedAt, startedAt }));
      }
    }
    const { user, system } = process.cpuUsage(cpu);
    perVote.push(((user + system) / (turns * names.length * nodes.length)).toFixed(2));
  }
  console.log(`vote: ${perVote.join(', ')} us of CPU`);
}

async function measureScrape(metrics: Metrics): Promise<void> {
  let [longest, longestCpu] = [0, 0];
  let last = performance.now();
  let lastCpu = process.threadCpuUsage();
  let running = true;
  const watch = () => {
    const { user, system } = process.threadCpuUsage(lastCpu);
    longest = Math.max(longest, performance.now() - last);
    longestCpu = Math.max(longestCpu, (user + system) / 1_000);
    last = performance.now();
    lastCpu = process.threadCpuUsage();
    if (running) setImmediate(watch);
  };
  setImmediate(watch);
  const start = performance.now();
  const cpu = process.cpuUsage();
  let [lines, bytes] = [0, 0];
  for await (const part of metrics.scrape({ scraper: null }).body) {
    lines += part.toString().split('\n').length - 1;
    bytes += part.length;
  }
  const ms = performance.now() - start;
  const { user, system } = process.cpuUsage(cpu);
  running = false;
  console.log(
    `scrape: ${((user + system) / 1_000).toFixed(0)} ms of CPU (${ms.toFixed(0)} by the clock), longest hold ${longestCpu.toFixed(1)} ms (${longest.toFixed(1)}), ${lines} lines, ${bytes} bytes`,
  );
}
