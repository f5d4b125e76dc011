import { expect, test } from 'vitest';
import { firstWholeRound, historyOf } from '../support/fleet-history.ts';
import { natsObstacle, startNats } from '../support/nats-server.ts';
import { startNodeProcesses } from '../support/node-processes.ts';
import { createProgram, eventually } from '../support/program.ts';
import { startRelay } from '../support/relay.ts';
import { samplesOf } from '../support/samples.ts';
import { tcpServer } from '../support/tcp-servers.ts';

const obstacle = natsObstacle();
const everyMs = 1_000;
// With what a node waits until it tries again, this is less than a round waits for its votes.
const cutMs = 1_500;

test.skipIf(obstacle !== null)(
  `what nodes saw while they were cut off for seconds comes in order, and is judged as if they had not been${obstacle === null ? '' : ` (${obstacle})`}`,
  async () => {
    await using stack = new AsyncDisposableStack();
    const nats = stack.use(await startNats({ nodes: ['de1', 'us1'] }));
    const server = stack.use(await tcpServer((socket) => void socket.end()));
    const program = stack.use(await createProgram());
    const before = await startRelay(nats.port);
    const { port } = before;
    stack.use(startNodeProcesses({ ...nats, url: `nats://127.0.0.1:${port}` }, program.folder));
    const running = await program.start(`
data: watchpost.db
http: { listen: "127.0.0.1:0" }
nats: { servers: ["${nats.url}"] }
nodes: {}
targets:
  shop: { check: tcp, host: "127.0.0.1:${server.port}", every: ${everyMs}ms }
`);
    const written = () => historyOf({ program }).results;
    const wholeSince = (moment: number) => firstWholeRound(historyOf({ program }), 'shop', moment);
    const skipped = async () =>
      [...samplesOf(await (await fetch(`${running.url}/metrics`)).text())]
        .filter(([series]) => series.startsWith('watchpost_rounds_total{') && series.includes('outcome="skipped"'))
        .reduce((sum, [, count]) => sum + count, 0);
    const begun = await eventually(60_000, () => {
      const first = wholeSince(0);
      expect(first).toBeLessThan(Infinity);
      return first;
    });
    const skippedBefore = await skipped();

    await before[Symbol.asyncDispose]();
    await new Promise((resolve) => setTimeout(resolve, cutMs));
    stack.use(await startRelay(nats.port, port));
    const backAt = Date.now();
    await eventually(60_000, () => expect(wholeSince(backAt + 5 * everyMs)).toBeLessThan(Infinity));
    expect(await skipped()).toBe(skippedBefore);
    expect(await running.end('SIGTERM')).toEqual({ code: 0, signal: null });

    const results = written().filter(({ due_at: due }) => due >= begun);
    expect(results.filter(({ status, late_at: lateAt }) => status !== 0 || lateAt !== null)).toEqual([]);
    expect(results).toHaveLength(2 * ((Number(results.at(-1)?.due_at) - begun) / everyMs + 1));
  },
);
