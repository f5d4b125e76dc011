import { expect, test } from 'vitest';
import { historyOf, wholeRound } from '../support/fleet-history.ts';
import { natsObstacle, startNats } from '../support/nats-server.ts';
import { startNodeProcesses } from '../support/node-processes.ts';
import { createProgram } from '../support/program.ts';
import { tcpServer } from '../support/tcp-servers.ts';

// A hub that came to nothing for seconds: because it was suspended, or because it had too much to do.

const obstacle = natsObstacle();
const preload = new URL('../support/busy-thread.js', import.meta.url).pathname;
const awayMs = 8_000;
const everyMs = 1_000;

/** A hub with two nodes on other machines, once both have voted; `act` holds it up for `awayMs`. */
async function heldUpBy(act: (pid: number) => Promise<void>) {
  await using stack = new AsyncDisposableStack();
  const nats = stack.use(await startNats({ nodes: ['de1', 'us1'] }));
  const server = stack.use(await tcpServer((socket) => void socket.end()));
  const environment = { NODE_OPTIONS: `--import=${preload}`, BUSY_MS: String(awayMs) };
  const program = stack.use(await createProgram({ environment }));
  stack.use(startNodeProcesses(nats, program.folder));
  const running = await program.start(`
data: watchpost.db
http: { listen: "127.0.0.1:0" }
nats: { servers: ["${nats.url}"] }
nodes: {}
targets:
  shop: { check: tcp, host: "127.0.0.1:${server.port}", every: ${everyMs}ms }
`);
  const begun = await wholeRound({ program }, 'shop');
  await act(Number(running.process.pid));
  const backAt = Date.now();
  await wholeRound({ program }, 'shop', backAt + 5 * everyMs);
  expect(await running.end('SIGTERM')).toEqual({ code: 0, signal: null });
  const { results: all, incidents } = historyOf({ program });
  const results = all.filter(({ due_at: due }) => due >= begun);
  const last = Number(results.at(-1)?.due_at);
  return {
    causes: running.log.flatMap(({ msg, cause }) => (msg.startsWith('judged what nodes observed') ? [cause] : [])),
    results,
    /** How often each node should have voted. */
    rounds: (last - begun) / everyMs + 1,
    incidents,
  };
}

const pause = async (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const named = (name: string) => `${name}${obstacle === null ? '' : ` (${obstacle})`}`;

test
  .skipIf(obstacle !== null)
  .concurrent(
    named('a hub that computed for eight seconds reads what came meanwhile as it reads everything'),
    async () => {
      const { causes, results, rounds, incidents } = await heldUpBy(async (pid) => {
        process.kill(pid, 'SIGUSR2');
        await pause(awayMs);
      });
      expect(causes).toEqual([]);
      expect(rounds).toBeGreaterThan(awayMs / everyMs);
      expect(results.filter(({ status, late_at: lateAt }) => status !== 0 || lateAt !== null)).toEqual([]);
      expect(results).toHaveLength(2 * rounds);
      expect(incidents).toEqual([]);
    },
  );

test
  .skipIf(obstacle !== null)
  .concurrent(named('a hub that was suspended for eight seconds asks its nodes for what they hold'), async () => {
    const { causes, results, rounds, incidents } = await heldUpBy(async (pid) => {
      process.kill(pid, 'SIGSTOP');
      await pause(awayMs);
      process.kill(pid, 'SIGCONT');
    });
    expect(causes).toContain('frozen');
    expect(results.filter(({ status }) => status !== 0)).toEqual([]);
    expect(results).toHaveLength(2 * rounds);
    expect(incidents).toEqual([]);
  });
