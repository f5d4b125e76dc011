import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { historyOf, wholeRound } from '../support/fleet-history.ts';
import { startHttpTarget } from '../support/http-target.ts';
import { natsObstacle, startNats } from '../support/nats-server.ts';
import { startNodeProcesses } from '../support/node-processes.ts';
import { createProgram, eventually } from '../support/program.ts';
import { samplesOf } from '../support/samples.ts';

const obstacle = natsObstacle();

test.skipIf(obstacle !== null)(
  `what nodes saw by a check that was changed meanwhile is stored as late, and opens no incident${obstacle === null ? '' : ` (${obstacle})`}`,
  async () => {
    await using stack = new AsyncDisposableStack();
    const nats = stack.use(await startNats({ nodes: ['de1', 'us1'] }));
    const before = stack.use(await startHttpTarget());
    const after = stack.use(await startHttpTarget());
    const program = stack.use(await createProgram());
    stack.use(startNodeProcesses(nats, program.folder));
    const config = (url: string) => `
data: watchpost.db
http: { listen: "127.0.0.1:0" }
nats: { servers: ["${nats.url}"] }
nodes: {}
targets: { shop: { check: http, host: "${url}", every: 1s, timeout: 900ms } }
rules: { down: { rounds: 2 } }
`;
    const running = await program.start(config(before.url));
    await wholeRound({ program }, 'shop');

    // Nothing passes from here on: nodes go on, and what they saw waits for NATS.
    nats.signal('SIGSTOP');
    const cutAt = Date.now();
    await before.stop();
    const requests = after.requests;
    await eventually(60_000, () => expect(Date.now() - cutAt).toBeGreaterThan(6_000));
    await writeFile(join(program.folder, 'watchpost.yaml'), config(after.url));
    const answer = await fetch(`${running.url}/-/reload`, { method: 'POST' });
    expect(await answer.json()).toMatchObject({ ok: 1, changed: ['shop'] });
    const changedAt = Date.now();
    // The check before is heard until its rounds are over: then rounds of this one end, without a vote.
    await eventually(60_000, () => {
      const ofChanged = historyOf({ program }).results.filter((one) => one.due_at > changedAt + 1_000);
      expect(ofChanged).not.toEqual([]);
    });
    expect(after.requests).toBe(requests);
    nats.signal('SIGCONT');
    await wholeRound({ program }, 'shop', Date.now());

    const seenDown = () => historyOf({ program }).results.filter((one) => one.status === 1);
    await eventually(30_000, () => {
      for (const node of ['de1', 'us1'])
        expect(seenDown().filter((one) => one.node === node).length).toBeGreaterThan(1);
    });
    expect(seenDown().filter((one) => one.late_at === null)).toEqual([]);
    // All is confirmed: nodes keep nothing to send again.
    await eventually(30_000, async () => {
      const samples = samplesOf(await (await fetch(`${running.url}/metrics`)).text());
      for (const node of ['de1', 'us1'])
        expect(samples.get(`watchpost_node_spooled_results{node="${node}"}`)).toBeLessThan(10);
    });
    const { incidents, periods } = historyOf({ program });
    expect(incidents).toEqual([]);
    expect(periods.filter(({ status }) => status === 1)).toEqual([]);
    expect(await running.end('SIGTERM')).toEqual({ code: 0, signal: null });
  },
  120_000,
);
