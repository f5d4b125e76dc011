import { expect, test } from 'vitest';
import { startHttpTarget } from '../support/http-target.ts';
import { natsObstacle, startNats } from '../support/nats-server.ts';
import { enrolNodes, startEnrolledNodes } from '../support/node-processes.ts';
import { createProgram, eventually, query } from '../support/program.ts';
import { samplesOf } from '../support/samples.ts';

const obstacle = natsObstacle();
const targets = 300;
// By then each target was due since the hub began, and none twice.
const comesAfterMs = 1_000;
// What is confirmed once it is stored, of so many results a second.
const mostUnsent = 20;

test.skipIf(obstacle !== null)(
  `a node that comes after its hub is heard at once, is blamed for nothing, and keeps nothing for later${obstacle === null ? '' : ` (${obstacle})`}`,
  async () => {
    await using stack = new AsyncDisposableStack();
    const nats = stack.use(await startNats({ nodes: ['de1'] }));
    const target = stack.use(await startHttpTarget());
    const program = stack.use(await createProgram());
    enrolNodes(nats, program.folder);
    const names = Array.from({ length: targets }, (_, number) => `shop-${number}`);
    const running = await program.start(`
data: watchpost.db
http: { listen: "127.0.0.1:0" }
nats: { servers: ["${nats.url}"] }
nodes: {}
defaults: { every: 1s }
targets:
${names.map((name) => `  ${name}: { check: http, host: "${target.url}" }`).join('\n')}
`);
    await new Promise((resolve) => setTimeout(resolve, comesAfterMs));
    stack.use(startEnrolledNodes(nats, program.folder));
    await running.logged(/^node is online/);
    const from = Date.now() + 5_000;
    await eventually(40_000, async () => {
      const [row] = query(
        program.database,
        `SELECT count(DISTINCT target_id) AS count FROM results WHERE status = 0 AND due_at >= ${from}`,
      );
      expect(row?.['count']).toBe(targets);
      const samples = samplesOf(await (await fetch(`${running.url}/metrics`)).text());
      expect(samples.get('watchpost_node_spooled_results{node="de1"}')).toBeLessThan(mostUnsent);
    });
    expect(query(program.database, "SELECT due_at FROM results WHERE failure ->> 'code' = 'no_answer'").length).toBe(0);
    expect(await running.end('SIGTERM')).toEqual({ code: 0, signal: null });
  },
);
