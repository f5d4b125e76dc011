import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { failed, failure } from '#checks/index.ts';
import { protocolRange, subjectsOf } from '#protocol/nodes.ts';
import type { AssignMessage } from '#protocol/watching.ts';
import { startHttpTarget } from '../support/http-target.ts';
import { natsObstacle, startNats } from '../support/nats-server.ts';
import { createProgram, eventually, query } from '../support/program.ts';
import { reportIn, signInAs, submit } from '../support/rogue-node.ts';
import { startSmtp } from '../support/smtp.ts';

const obstacle = natsObstacle();
const name = 'us1';
const Revised = z.object({ revision: z.string() });
const down = failed(failure('target', 'refused', 'connection refused'));

test.skipIf(obstacle !== null)(
  `a node with a good key that makes up rounds is answered "refused": no row, no DOWN, and the hub counts it${obstacle === null ? '' : ` (${obstacle})`}`,
  async () => {
    await using stack = new AsyncDisposableStack();
    const nats = stack.use(await startNats({ nodes: [name] }));
    const target = stack.use(await startHttpTarget());
    const smtp = stack.use(await startSmtp());
    const program = stack.use(await createProgram());
    mkdirSync(join(program.folder, 'nodes'));
    writeFileSync(join(program.folder, 'hub.nk'), nats.hub.seed.reveal(), { mode: 0o600 });
    const enrolled = [...nats.nodes].map(([node, { key }]) => [node, { key, enrolled_at: '2026-01-01T00:00:00Z' }]);
    writeFileSync(join(program.folder, 'nodes', 'nodes.json'), JSON.stringify({ nodes: Object.fromEntries(enrolled) }));
    const running = await program.start(`
data: watchpost.db
http: { listen: 127.0.0.1:0 }
smtp: { url: "smtp://127.0.0.1:${smtp.port}", from: alerts@example.com }
nats: { servers: ["${nats.url}"] }
nodes: {}
defaults: { every: 1h, notify: [ops] }
targets:
  shop: { check: http, host: "${target.url}", rules: [quick] }
rules: { quick: { rounds: 1, recover: 1, confirm: false } }
notify: { ops: { email: { to: [ops@example.com] }, group_wait: 0s } }
`);

    const rogue = await signInAs(nats, name);
    stack.defer(async () => rogue.close());
    const assigned: AssignMessage[] = [];
    rogue.subscribe(subjectsOf(name).command('rogue'), {
      callback(_, message) {
        const told = message.json<AssignMessage>();
        if (Array.isArray(told.targets)) assigned.push(told);
        message.respond(JSON.stringify({ protocol: protocolRange, process: 'rogue', state: 'accepted', reason: null }));
      },
    });
    await eventually(60_000, async () => {
      await reportIn(rogue, name, { watching: null });
      expect(assigned.at(-1)?.targets).toMatchObject([{ name: 'shop' }]);
    });
    const { epoch = '', number = 0, targets = [] } = assigned.at(-1) ?? {};
    const { revision: current } = Revised.parse(targets[0]);
    const since = Date.now() - 86_400_000;
    await reportIn(rogue, name, { watching: { epoch, number, targets: 1, since } });

    // A round every ten seconds where one is due every hour, an odd millisecond each, of the past and of now.
    const batchOf = (dues: readonly number[]) =>
      JSON.stringify({
        kind: 'batch',
        protocol: protocolRange,
        ticket: `t${dues[0]}`,
        process: 'rogue',
        sightings: dues.map((dueAt) => ({
          target: 'shop',
          revision: current,
          type: 'http',
          dueAt,
          startedAt: dueAt,
          outcome: down,
        })),
      });
    const now = Date.now();
    for (let batch = 0; batch < 10; batch += 1) {
      const dues = Array.from({ length: 100 }, (_, index) => now - (batch * 100 + index) * 10_007);
      expect(await submit(rogue, name, batchOf(dues))).toMatchObject({
        state: 'refused',
        reason: expect.stringMatching(/no due time of shop/),
        discarded: 100,
      });
    }
    expect(await submit(rogue, name, batchOf([now + 3_600_000]))).toMatchObject({
      state: 'refused',
      reason: 'shop is not due yet',
    });

    await eventually(30_000, async () => {
      const metrics = await (await fetch(`${running.url}/metrics`)).text();
      expect(metrics).toContain('watchpost_node_refused_results_total{node="us1"} 1001');
    });
    expect(running.log.filter(({ msg }) => msg === 'discarded results of a node')).toHaveLength(1);
    await running.end('SIGTERM');
    expect(query(program.database, 'SELECT due_at FROM results')).toEqual([]);
    expect(query(program.database, 'SELECT * FROM late_results')).toEqual([]);
    expect(query(program.database, 'SELECT id FROM incidents')).toEqual([]);
    expect(smtp.received).toEqual([]);
  },
  120_000,
);
