import { expect, test } from 'vitest';
import { sharedSubjects } from '#protocol/nodes.ts';
import { createMachineClock } from '../support/machine-clock.ts';
import { historyOf, wholeRound } from '../support/fleet-history.ts';
import { natsObstacle, startNats } from '../support/nats-server.ts';
import { startNodeProcesses } from '../support/node-processes.ts';
import { createProgram, eventually, query } from '../support/program.ts';
import { signInAs } from '../support/rogue-node.ts';
import { samplesOf } from '../support/samples.ts';
import { starve } from '../support/starve.ts';
import { tempFolder } from '../support/store.ts';
import { tcpServer } from '../support/tcp-servers.ts';

const obstacle = natsObstacle();
const targets = 900;
const everyMs = 2_000;
const aheadMs = 5 * 3_600_000;

/** How many healthy results were left out because the hub could not read all. */
async function leftOut(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const isLeftOut = (series: string) => /^watchpost_node_lost_results_total\{.*reason="hub_overload"/.test(series);
  return [...samplesOf(text)].reduce((sum, [series, count]) => sum + (isLeftOut(series) ? count : 0), 0);
}

/** Whether the overview says that the hub leaves out results. */
const saysOverload = async (url: string) => (await (await fetch(url)).text()).includes('Watchpost is overloaded');

test.skipIf(obstacle !== null)(
  `a hub with too little of a processor leaves out healthy results, says so on the overview, reports outages, also after its clock was set forward, blames no node, is sent nothing twice, and takes all again${obstacle === null ? '' : ` (${obstacle})`}`,
  async () => {
    await using stack = new AsyncDisposableStack();
    const nats = stack.use(await startNats({ nodes: ['de1', 'us1'] }));
    const steady = stack.use(await tcpServer((socket) => socket.end()));
    const shop = stack.use(await tcpServer((socket) => socket.end()));
    const blog = stack.use(await tcpServer((socket) => socket.end()));
    const clock = createMachineClock(stack.use(tempFolder()).path);
    const program = stack.use(await createProgram({ environment: clock.environment }));
    stack.use(startNodeProcesses(nats, program.folder));
    const others = Array.from(
      { length: targets },
      (_, index) => `  t${index}: { check: tcp, host: "127.0.0.1:${steady.port}", timeout: 1900ms }`,
    );
    const running = await program.start(`
data: watchpost.db
http: { listen: "127.0.0.1:0" }
nats: { servers: ["${nats.url}"] }
nodes: {}
defaults: { every: ${everyMs}ms }
targets:
  shop: { check: tcp, host: "127.0.0.1:${shop.port}", timeout: 1900ms }
  blog: { check: tcp, host: "127.0.0.1:${blog.port}", timeout: 1900ms }
${others.join('\n')}
rules: { down: { rounds: 2, recover: 2 } }
`);
    await wholeRound({ program }, 'shop');
    await wholeRound({ program }, 't7');
    // Those of batches that came more than once.
    const [tickets, again] = [new Set<string>(), new Set<string>()];
    const spy = await signInAs(nats);
    stack.defer(async () => spy.close());
    spy.subscribe(sharedSubjects.results, {
      callback(_, message) {
        const { ticket } = message.json<{ readonly ticket: string }>();
        (tickets.has(ticket) ? again : tickets).add(ticket);
      },
    });
    const outages = () => historyOf({ program }).incidents.filter(({ rule }) => rule === 'down');
    expect([outages(), await leftOut(running.url), await saysOverload(running.url)]).toEqual([[], 0, false]);
    {
      await using _ = starve(running.process, { runMs: 8, restMs: 292, of: 'main thread' });
      await running.logged(/^more comes in than can be judged/);
      await eventually(60_000, async () => expect(await saysOverload(running.url)).toBe(true));
      await shop[Symbol.asyncDispose]();
      await eventually(100_000, () => expect(outages()).toHaveLength(1));
      clock.set(aheadMs);
      await running.logged(/^clock was set forward/);
      await blog[Symbol.asyncDispose]();
      await eventually(100_000, () => expect(outages()).toHaveLength(2));
    }
    // Nodes tell it now and then.
    await eventually(60_000, async () => expect(await leftOut(running.url)).toBeGreaterThan(targets));
    // Of two rounds of each target that were due four to eight seconds ago all votes are there: nothing is left out any more.
    await eventually(120_000, () => {
      const to = Date.now() + aheadMs - 2 * everyMs;
      const [votes] = query(
        program.database,
        `SELECT count(*) AS count FROM results WHERE due_at >= ${to - 2 * everyMs} AND due_at < ${to}`,
      );
      expect(votes?.['count']).toBe(2 * 2 * (targets + 2));
    });
    await eventually(100_000, async () => expect(await saysOverload(running.url)).toBe(false));
    expect(await running.end('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(outages()).toHaveLength(2);
    const { results } = historyOf({ program });
    // A hub that is slow is not one that is away.
    expect([tickets.size > 0, [...again]]).toEqual([true, []]);
    expect(results.filter(({ failure }) => /the node did not answer/.test(failure ?? ''))).toEqual([]);
  },
  300_000,
);
