import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startHttpTarget } from '../support/http-target.ts';
import { natsObstacle, startNats } from '../support/nats-server.ts';
import { startNodeProcesses } from '../support/node-processes.ts';
import { createProgram, eventually, query } from '../support/program.ts';
import { startSmtp } from '../support/smtp.ts';

// Hub, nats-server and three nodes are processes of their own; minutes are seconds.

const names = ['us1', 'de1', 'jp1'];
const obstacle = natsObstacle();

/** How often a node keeps for the hub that the target was down. */
function downIn(spool: string): number {
  const kept = query(spool, 'SELECT payload FROM spool').map(({ payload }) => String(payload));
  return kept.join('\n').split('"status":"down"').length - 1;
}

test.skipIf(obstacle !== null)(
  `what nodes saw while the hub was stopped has every round, and an outage in it is one late mail${obstacle === null ? '' : ` (${obstacle})`}`,
  async () => {
    await using stack = new AsyncDisposableStack();
    const nats = stack.use(await startNats({ nodes: names }));
    const target = stack.use(await startHttpTarget());
    const smtp = stack.use(await startSmtp());
    const program = stack.use(await createProgram());
    stack.use(startNodeProcesses(nats, program.folder));
    const config = `
data: watchpost.db
http: { listen: 127.0.0.1:0 }
smtp: { url: "smtp://127.0.0.1:${smtp.port}", from: alerts@example.com }
nats: { servers: ["${nats.url}"] }
nodes: {}
defaults: { every: 1s, notify: [ops] }
targets:
  shop: { check: http, host: "${target.url}", timeout: 900ms, rules: [quick] }
rules: { quick: { rounds: 2, recover: 2, confirm: false } }
notify: { ops: { email: { to: [ops@example.com] }, group_wait: 0s } }
`;
    const rows = () =>
      query(
        program.database,
        `SELECT node, status, due_at AS due FROM history WHERE target = 'shop' ORDER BY due_at, node`,
      );
    const first = await program.start(config);
    await eventually(60_000, () => expect(new Set(rows().map(({ node }) => node)).size).toBe(3));
    await eventually(60_000, () =>
      expect(
        rows()
          .slice(-3)
          .map(({ status }) => status),
      ).toEqual(['up', 'up', 'up']),
    );
    await first.end('SIGTERM');
    const goneAt = Date.now();

    const before = target.requests;
    await eventually(30_000, () => expect(target.requests).toBeGreaterThan(before + 9));
    const downAt = Date.now();
    await target.stop();
    await eventually(60_000, () => {
      for (const name of names) expect(downIn(join(program.folder, `${name}.db`))).toBeGreaterThan(2);
    });
    await target.start();
    const upAt = Date.now();
    const meanwhile = target.requests;
    await eventually(30_000, () => expect(target.requests).toBeGreaterThan(meanwhile + 9));
    expect(smtp.received).toEqual([]);

    const second = await program.start(config);
    const backAt = Date.now();
    const [mail] = await smtp.mails(1);
    expect(mail?.mail.subject).toMatch(/shop/);
    await eventually(60_000, () => expect(Number(rows().at(-1)?.['due'])).toBeGreaterThan(backAt + 3_000));
    await second.end('SIGTERM');

    const all = rows();
    const away = all.filter(({ due }) => Number(due) > goneAt && Number(due) < backAt);
    const dues = [...new Set(all.map(({ due }) => Number(due)))].filter((due) => due > goneAt - 2_000 && due < backAt);
    expect(new Set(dues.slice(1).map((due, index) => due - dues[index]!))).toEqual(new Set([1_000]));
    expect(away.filter(({ status }) => status === 'down').length).toBeGreaterThanOrEqual(6);
    const [incident, ...others] = query(
      program.database,
      'SELECT started_at AS began, ended_at AS ended FROM incidents',
    );
    expect(others).toEqual([]);
    expect(Number(incident?.['began'])).toBeGreaterThan(downAt - 1_000);
    expect(Number(incident?.['began'])).toBeLessThan(downAt + 3_000);
    expect(Number(incident?.['ended'])).toBeGreaterThan(upAt - 1_000);
    expect(Number(incident?.['ended'])).toBeLessThan(backAt);
    expect(smtp.received).toHaveLength(1);
  },
  240_000,
);
