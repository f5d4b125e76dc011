import { fork } from 'node:child_process';
import { once } from 'node:events';
import { systemClock } from '#kernel/clock.ts';
import { systemRandom } from '#kernel/random.ts';
import { createNatsTransport } from '#transport/nats/hub.ts';
import { tcpCommand } from '../../support/node-command.ts';
import { startNats } from '../../support/nats-server.ts';
import { quiet } from '../../support/remote-nodes.ts';
import { nodeInfo } from '../../support/votes.ts';
import { figure, printTable } from '../tools/table.ts';

// What is asked for at once: a real nats-server, the hub in this process, the nodes in a process of their own, all on this machine. The
// checks themselves take no time, so that nothing but the way there and back is measured.

const never = new AbortController().signal;
const command = tcpCommand('192.0.2.1:443', { policy: 'public' });
const seconds = 5;
const warmUpSeconds = 1;

interface Figures {
  readonly perSecond: number;
  readonly hubCpuUs: number;
  readonly p50: number;
  readonly p99: number;
  readonly failed: number;
}

export async function measureCommands(
  loads: readonly (readonly [nodes: number, rate: number | null])[],
): Promise<void> {
  const rows: string[][] = [];
  for (const [count, rate] of loads) {
    const { perSecond, hubCpuUs, p50, p99, failed } = await measure(count, rate);
    const load = rate === null ? 'all it takes' : `${rate}/s`;
    rows.push([
      `${count} nodes, ${load}`,
      figure(perSecond),
      figure(hubCpuUs),
      figure(p50),
      figure(p99),
      String(failed),
    ]);
  }
  printTable(['commands', 'per s', 'hub CPU us', 'p50 ms', 'p99 ms', 'failed'], rows);
}

async function measure(count: number, rate: number | null): Promise<Figures> {
  const names = Array.from({ length: count }, (_, index) => `zz${index + 1}`);
  await using server = await startNats({ nodes: names });
  let listed = false;
  const hub = createNatsTransport({
    account: server.account(),
    enrolled: async () => (listed ? null : ((listed = true), names.map((name) => nodeInfo(name)))),
    onLate: async () => {},
    onAbsence: () => {},
    absentAfterMs: 300_000,
    clock: systemClock,
    random: systemRandom,
    log: quiet,
  });
  const accounts = names.map((name) => ({ ...server.account(name), seed: server.account(name).seed.reveal() }));
  const child = fork(new URL('agents-child.ts', import.meta.url), { stdio: 'inherit' });
  child.send(accounts);
  await once(child, 'message');
  while (hub.nodes().some(({ online }) => !online) || hub.nodes().length < count) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }

  const latencies: number[] = [];
  let failed = 0;
  let counting = false;
  const runOnce = async (name: string): Promise<void> => {
    const began = performance.now();
    const outcome = await hub.run(name, command, never);
    if (!counting) return;
    if (outcome.status === 'up') latencies.push(performance.now() - began);
    else failed += 1;
  };
  const stop = new AbortController();
  const inFlight = new Set<Promise<void>>();
  const flood = async (name: string) => {
    while (!stop.signal.aborted) await runOnce(name);
  };
  const paced = async (perSecond: number) => {
    const began = performance.now();
    for (let sent = 0; !stop.signal.aborted;) {
      for (const due = ((performance.now() - began) / 1_000) * perSecond; sent < due; sent += 1) {
        const running = runOnce(names[sent % count] ?? '');
        inFlight.add(running);
        void running.finally(() => inFlight.delete(running));
      }
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  };
  const width = Math.max(1, Math.floor(400 / count));
  const work =
    rate === null ? names.flatMap((name) => Array.from({ length: width }, () => flood(name))) : [paced(rate)];
  await new Promise((resolve) => setTimeout(resolve, warmUpSeconds * 1_000));
  counting = true;
  const cpu = process.cpuUsage();
  const began = performance.now();
  await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
  counting = false;
  const { user, system } = process.cpuUsage(cpu);
  const tookSeconds = (performance.now() - began) / 1_000;
  stop.abort();
  await Promise.all([...work, ...inFlight]);
  child.disconnect();
  await once(child, 'exit');
  await hub.close();
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? Number.NaN;
  return {
    perSecond: latencies.length / tookSeconds,
    hubCpuUs: (user + system) / latencies.length,
    p50: at(0.5),
    p99: at(0.99),
    failed,
  };
}
