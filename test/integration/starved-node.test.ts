import { expect, test } from 'vitest';
import { historyOf, wholeRound } from '../support/fleet-history.ts';
import { natsObstacle, startNats } from '../support/nats-server.ts';
import { startNodeProcesses } from '../support/node-processes.ts';
import { createProgram, eventually, type Program, query } from '../support/program.ts';
import { starve } from '../support/starve.ts';
import { tcpServer } from '../support/tcp-servers.ts';

const obstacle = natsObstacle();
const targets = 3_000;
const everyMs = 10_000;

/** What one of the nodes is said to have found of the targets that are up, and how often. */
function votesBetween(
  { database }: Pick<Program, 'database'>,
  from: number,
  to: number,
): Readonly<Record<string, number>> {
  const rows = query(
    database,
    `SELECT coalesce(json_extract(failure, '$.message'), 'up') AS vote, count(*) AS count FROM results
     JOIN nodes ON nodes.id = node_id JOIN targets ON targets.id = target_id
     WHERE nodes.name = 'de1' AND targets.name LIKE 't%' AND due_at >= ${from} AND due_at < ${to} GROUP BY 1`,
  );
  return Object.fromEntries(rows.map(({ vote, count }) => [String(vote), Number(count)]));
}

const votesSince = (program: Pick<Program, 'database'>, from: number) => votesBetween(program, from, Date.now());
const busy = 'the node has more to check than it can manage';

test.skipIf(obstacle !== null)(
  `a node with too little of a processor checks in time what it checks, says what it passed over, is reported itself, and takes all again${obstacle === null ? '' : ` (${obstacle})`}`,
  async () => {
    await using stack = new AsyncDisposableStack();
    const nats = stack.use(await startNats({ nodes: ['de1', 'us1'] }));
    const steady = stack.use(await tcpServer((socket) => socket.end()));
    const shop = stack.use(await tcpServer((socket) => socket.end()));
    const program = stack.use(await createProgram());
    const { processes } = stack.use(startNodeProcesses(nats, program.folder));
    const others = Array.from(
      { length: targets },
      (_, index) => `  t${index}: { check: tcp, host: "127.0.0.1:${steady.port}", timeout: 1900ms }`,
    );
    await program.start(`
data: watchpost.db
http: { listen: "127.0.0.1:0" }
nats: { servers: ["${nats.url}"] }
nodes: {}
defaults: { every: ${everyMs}ms }
targets:
  shop: { check: tcp, host: "127.0.0.1:${shop.port}", every: 2s, timeout: 1900ms }
${others.join('\n')}
rules: { down: { failing: any, rounds: 2, recover: 2 } }
`);
    const incidents = (of: string) => historyOf({ program }).incidents.filter(({ rule }) => rule === of);
    await wholeRound({ program }, 't7');
    const from = Date.now();
    {
      const node = processes.get('de1');
      if (node === undefined) throw new Error('it is not running');
      await using _ = starve(node, { runMs: 8, restMs: 292, of: 'all threads' });
      await eventually(100_000, () => expect(votesSince(program, from)[busy]).toBeGreaterThan(1_000));
      await shop[Symbol.asyncDispose]();
      await eventually(60_000, () => expect(incidents('down')).toHaveLength(1));
      await eventually(200_000, () => expect(incidents('node_overload')).toHaveLength(1));
    }
    // Every vote that is missing says why.
    const { [busy]: passed, up, ...rest } = votesSince(program, from);
    expect([rest, passed, up]).toEqual([{}, expect.any(Number), expect.any(Number)]);
    const again = Date.now() + everyMs;
    await eventually(120_000, () => {
      const to = Date.now() - everyMs;
      expect(to).toBeGreaterThan(again + everyMs);
      expect(votesBetween(program, to - everyMs, to)).toEqual({ up: targets });
    });
    expect(incidents('down')).toHaveLength(1);
  },
  400_000,
);
