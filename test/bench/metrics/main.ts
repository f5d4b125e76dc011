import { createLog } from '#kernel/log.ts';
import { systemClock } from '#kernel/clock.ts';
import { createMetrics } from '#metrics/metrics.ts';
import { round, textOf, watched } from '../../support/metrics.ts';
import { nodeInfo, up } from '../../support/votes.ts';

// What metrics cost at 1,000 targets on 5 nodes: a vote on the way in, and a scrape with the longest time it holds the event loop.
const nodes = ['de1', 'de2', 'fr1', 'us1', 'br1'].map((name) => nodeInfo(name));
const targets = Array.from({ length: 1_000 }, (_, index) => watched(`target-${index}`));
using metrics = createMetrics({
  clock: systemClock,
  log: createLog({ level: 'warn', pretty: false, fd: 2 }),
  version: 'bench',
  sources: {
    nodes: () => nodes.map((info) => ({ info, up: true, eventLoopLagSeconds: 0 })),
    deliveries: () => [],
    store: () => ({ bytes: 0, queued: 0, unsealedSeconds: 0 }),
    budgets: () => [],
  },
});
metrics.targetsChanged(targets);
const outcome = up(0.02, { phases: { resolve: 0.001, connect: 0.002, tls: 0.004, first_byte: 0.01, transfer: 0.003 } });
const votes = nodes.map((node) => ({ node, outcome }));
const repeat = 20;

for (let pass = 0; pass < 3; pass += 1) {
  const start = performance.now();
  for (let turn = 0; turn < repeat; turn += 1) {
    for (const { name } of targets) metrics.roundDone(round(name, { votes }));
  }
  const ms = performance.now() - start;
  console.log(`vote: ${((ms * 1e3) / (repeat * targets.length * nodes.length)).toFixed(2)} us`);
}

for (let pass = 0; pass < 5; pass += 1) {
  let longest = 0;
  let last = performance.now();
  let running = true;
  const watch = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (running) setImmediate(watch);
  };
  setImmediate(watch);
  const start = performance.now();
  const text = await textOf(metrics);
  const ms = performance.now() - start;
  running = false;
  const lines = text.split('\n').length;
  console.log(
    `scrape: ${ms.toFixed(0)} ms, longest hold ${longest.toFixed(1)} ms, ${lines} lines, ${text.length} bytes`,
  );
}
