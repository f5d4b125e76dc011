import { expect, test } from 'vitest';
import { createMachineClock } from '../support/machine-clock.ts';
import { firstWholeRound, historyOf } from '../support/fleet-history.ts';
import { natsObstacle, startNats } from '../support/nats-server.ts';
import { startNodeProcesses } from '../support/node-processes.ts';
import { createProgram, eventually, type Program, type Running } from '../support/program.ts';
import { samplesOf } from '../support/samples.ts';
import { tempFolder } from '../support/store.ts';
import { tcpServer } from '../support/tcp-servers.ts';

const hour = 3_600_000;
const names = ['mail', 'news', 'shop'];
const everyMs = 5_000;
const obstacle = natsObstacle();

/** How many results the program has judged since it was started. */
async function countedBy({ url }: Running): Promise<number> {
  const samples = [...samplesOf(await (await fetch(`${url}/metrics`)).text())];
  const own = samples.filter(([series]) => series.startsWith('watchpost_check_results_total{'));
  return own.reduce((sum, [, value]) => sum + value, 0);
}

/** A program whose rounds are all healthy and wait for others before they are written. */
async function startWaiting(program: Program, stack: AsyncDisposableStack) {
  let asked = 0;
  const server = stack.use(
    await tcpServer((socket) => {
      asked += 1;
      socket.end();
    }),
  );
  const targets = names.map(
    (name) => `  ${name}: { check: tcp, host: "127.0.0.1:${server.port}", every: ${everyMs}ms }`,
  );
  const running = await program.start(`
data: ${program.database}
http: { listen: "127.0.0.1:0" }
nodes: { de1: {} }
targets:
${targets.join('\n')}
`);
  const written = () => historyOf({ program }).results;
  const counted = async () => countedBy(running);
  return {
    running,
    written,
    /** Waits until there are more rounds than that, of which the file lacks some, and gives their number. */
    roundsWait: async (moreThan = 0) =>
      eventually(60_000, async () => {
        const all = await counted();
        expect(all).toBeGreaterThan(Math.max(moreThan, written().length));
        return all;
      }),
    /** Ends the program. What it had counted is in the file, and nothing that was not asked for. */
    stop: async () => {
      const all = await counted();
      expect(await running.end('SIGTERM')).toEqual({ code: 0, signal: null });
      expect(written().length).toBeGreaterThanOrEqual(all);
      expect(written().length).toBeLessThanOrEqual(asked);
      expect(written().filter(({ status }) => status !== 0)).toEqual([]);
      expect(historyOf({ program }).periods.filter(({ status }) => status !== 0)).toEqual([]);
    },
  };
}

test.concurrent('rounds that wait while the program is suspended are written once it is continued', async () => {
  await using stack = new AsyncDisposableStack();
  const program = stack.use(await createProgram());
  const { running, written, roundsWait, stop } = await startWaiting(program, stack);
  const all = await eventually(60_000, async () => {
    const waiting = await roundsWait();
    running.process.kill('SIGSTOP');
    if (written().length < waiting) return waiting;
    running.process.kill('SIGCONT');
    throw new Error('they were written before it was suspended');
  });
  const before = written();
  const suspendedAt = Date.now();
  await eventually(60_000, () => expect(Date.now()).toBeGreaterThan(suspendedAt + 8_000));
  expect(written()).toEqual(before);
  running.process.kill('SIGCONT');
  await eventually(30_000, () => expect(written().length).toBeGreaterThanOrEqual(all));
  await roundsWait(all + names.length);
  await stop();
  expect(historyOf({ program }).incidents).toEqual([]);
});

test.concurrent.each([
  ['forward', hour, 'back'],
  ['back', -hour, 'forward'],
] as const)(
  'rounds that wait while the clock is set %s by an hour, and again, are written',
  async (there, by, back) => {
    await using stack = new AsyncDisposableStack();
    const clock = createMachineClock(stack.use(tempFolder()).path);
    const program = stack.use(await createProgram({ environment: clock.environment }));
    const { running, roundsWait, stop } = await startWaiting(program, stack);
    const first = await roundsWait();
    clock.set(by);
    await running.logged(new RegExp(`^clock was set ${there}`));
    const second = await roundsWait(first + names.length);
    clock.set(0);
    await running.logged(new RegExp(`^clock was set ${back}`));
    await roundsWait(second + names.length);
    await stop();
  },
);

test
  .skipIf(obstacle !== null)
  .concurrent(
    `what a killed hub had of nodes but not yet in its file is sent again: nothing is missing, nothing there twice${obstacle === null ? '' : ` (${obstacle})`}`,
    async () => {
      await using stack = new AsyncDisposableStack();
      const nats = stack.use(await startNats({ nodes: ['de1', 'us1'] }));
      const server = stack.use(await tcpServer((socket) => void socket.end()));
      const program = stack.use(await createProgram());
      stack.use(startNodeProcesses(nats, program.folder));
      const targets = names.map(
        (name) => `  ${name}: { check: tcp, host: "127.0.0.1:${server.port}", every: ${everyMs}ms }`,
      );
      const config = `
data: watchpost.db
http: { listen: "127.0.0.1:0" }
nats: { servers: ["${nats.url}"] }
nodes: {}
targets:
${targets.join('\n')}
`;
      const written = () => historyOf({ program }).results;
      for (let kills = 0; kills < 3; kills += 1) {
        const before = kills === 0 ? 0 : written().length;
        const running = await program.start(config);
        await eventually(60_000, async () => {
          const counted = await countedBy(running);
          const stored = written().length - before;
          expect(stored).toBeGreaterThan(0);
          for (const name of names) expect(firstWholeRound(historyOf({ program }), name)).toBeLessThan(Infinity);
          expect(counted).toBeGreaterThan(stored);
        });
        await running.end('SIGKILL');
      }
      const last = await program.start(config);
      const backAt = Date.now();
      await eventually(60_000, () => expect(written().at(-1)?.due_at).toBeGreaterThan(backAt + 2 * everyMs));
      expect(await last.end('SIGTERM')).toEqual({ code: 0, signal: null });

      // Before that a node was not there yet, or watched nothing: with the first start of all it may come some seconds after the other.
      const history = historyOf({ program });
      const { results, periods, incidents } = history;
      const begins = new Map(names.map((name) => [name, firstWholeRound(history, name)]));
      const isSince = (target: unknown, at: unknown) => Number(at) >= (begins.get(String(target)) ?? Infinity);
      const whole = results.filter(({ target, due_at: due }) => isSince(target, due));
      const pairs = Map.groupBy(whole, ({ target, node }) => `${target} ${node}`);
      expect([...pairs.keys()].toSorted()).toEqual(names.flatMap((name) => [`${name} de1`, `${name} us1`]));
      for (const [, [first, ...others]] of pairs) {
        expect(others.length).toBeGreaterThan(3);
        expect(others.map((one) => one.due_at)).toEqual(
          others.map((_, index) => Number(first?.due_at) + (index + 1) * everyMs),
        );
      }
      expect(whole.filter(({ status }) => status !== 0)).toEqual([]);
      expect(periods.filter(({ target, from_at: from, status }) => isSince(target, from) && status !== 0)).toEqual([]);
      expect(incidents).toEqual([]);
    },
  );
