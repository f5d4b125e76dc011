import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { createProgram, eventually, query } from '../support/program.ts';

const busyNode = new URL('../fixtures/busy-node.mjs', import.meta.url).href;
const redirects = 5;

test('a check of a node that is held up again and again, each time for a moment, has as much longer to get its answer', async () => {
  // Each answer waits for the node: 250 ms in all, in which no stall is a quarter of the timeout.
  // What the node tells is how long the server took: how long the node was at it, only the server knows.
  const rounds: { readonly at: number; readonly ms: number }[] = [];
  let at = 0;
  const server = createServer(({ url = '' }, response) => {
    const hop = Number(url.slice(1));
    if (hop === 0) at = Date.now();
    if (hop === redirects) rounds.push({ at, ms: Date.now() - at });
    if (hop < redirects) response.writeHead(302, { location: `/${hop + 1}` });
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  await using program = await createProgram({
    environment: { NODE_OPTIONS: `--import=${busyNode}`, BUSY_MS: '40' },
  });
  await program.start(`
data: ${program.database}
http: { listen: "127.0.0.1:0" }
targets: { shop: { check: http, host: "http://127.0.0.1:${port}/0", every: 2s, timeout: 200ms, redirects: ${redirects} } }
`);
  await eventually(60_000, () => {
    const up = query(program.database, "SELECT due_at FROM history WHERE status = 'up'");
    const took = up.flatMap(({ due_at: due }) => rounds.filter((round) => Math.abs(round.at - Number(due)) < 1_000));
    expect(Math.max(...took.map(({ ms }) => ms))).toBeGreaterThan(200);
  });
  server.close();
}, 120_000);
