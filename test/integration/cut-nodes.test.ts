import { expect, test } from 'vitest';
import { historyOf, wholeRound } from '../support/fleet-history.ts';
import { startHttpTarget } from '../support/http-target.ts';
import { natsObstacle, startNats } from '../support/nats-server.ts';
import { startNodeProcesses } from '../support/node-processes.ts';
import { createProgram } from '../support/program.ts';
import { startRelay } from '../support/relay.ts';
import { samplesOf } from '../support/samples.ts';

const obstacle = natsObstacle();
const everyMs = 1_000;
// A node tries again within two seconds more, and a round of http waits for its votes for twelve.
const cutMs = 1_500;

test.skipIf(obstacle !== null)(
  `what nodes saw while they were cut off for seconds comes in order, and is judged as if they had not been${obstacle === null ? '' : ` (${obstacle})`}`,
  async () => {
    await using stack = new AsyncDisposableStack();
    const nats = stack.use(await startNats({ nodes: ['de1', 'us1'] }));
    const target = stack.use(await startHttpTarget());
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
  shop: { check: http, host: "${target.url}", every: ${everyMs}ms }
`);
    const skipped = async () =>
      [...samplesOf(await (await fetch(`${running.url}/metrics`)).text())]
        .filter(([series]) => series.startsWith('watchpost_rounds_total{') && series.includes('outcome="skipped"'))
        .reduce((sum, [, count]) => sum + count, 0);
    const begun = await wholeRound({ program }, 'shop');
    // By then nothing is sent to nodes any more: a hub that cannot do that knows at once that they are gone.
    await wholeRound({ program }, 'shop', begun + 5 * everyMs);
    const skippedBefore = await skipped();

    await before[Symbol.asyncDispose]();
    await new Promise((resolve) => setTimeout(resolve, cutMs));
    stack.use(await startRelay(nats.port, port));
    const backAt = Date.now();
    await wholeRound({ program }, 'shop', backAt + 5 * everyMs);
    expect(await skipped()).toBe(skippedBefore);
    expect(await running.end('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(running.log.filter(({ msg }) => msg === 'node is lost')).toEqual([]);

    const results = historyOf({ program }).results.filter(({ due_at: due }) => due >= begun);
    expect(results.filter(({ status, late_at: lateAt }) => status !== 0 || lateAt !== null)).toEqual([]);
    expect(results).toHaveLength(2 * ((Number(results.at(-1)?.due_at) - begun) / everyMs + 1));
  },
);
