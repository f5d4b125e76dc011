import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises';
import type { Outcome } from '#checks/index.ts';
import { systemClock } from '#kernel/clock.ts';
import { systemRandom } from '#kernel/random.ts';
import { startAgent } from '#node/agent.ts';
import { specOf } from '../probes/specs.ts';
import type { Ports } from '../probes/subject.ts';
import { startHelper } from '../tools/processes.ts';
import { figure, percentile, printTable } from '../tools/table.ts';

const atOnce = [1, 2, 5, 8] as const;
const waves = 150;
const everyMs = 50;
const warmUps = 20;

/** Prints what checks that share a slot see of a server that answers at once, beside checks that are alone, by turns. */
export async function measureSlots(): Promise<void> {
  await using servers = startHelper<object, Ports>(new URL('../probes/servers.ts', import.meta.url));
  const ports = await servers.ask({});
  const agent = await startAgent(
    { localAddress: {}, policy: 'private', allow: [], deny: [], knownAs: [], running: 100, queued: 100 },
    systemClock,
    systemRandom,
  );
  const check = async (address: string) => {
    const command = { spec: specOf('http', address, ports), policy: 'private', deadlineMs: 10_000 } as const;
    return agent.run(command, new AbortController().signal);
  };
  const seen = new Map<number, Outcome[]>(atOnce.map((count) => [count, []]));
  for (let wave = -warmUps; wave < waves; wave += 1) {
    for (const count of atOnce) {
      await pause(everyMs);
      const outcomes = await Promise.all(
        Array.from({ length: count }, async (_, index) => {
          // One after the other, as the thread of a node begins them.
          await turn();
          return check(`127.0.1.${1 + index}`);
        }),
      );
      if (wave >= 0) seen.get(count)?.push(...outcomes);
    }
  }
  await agent.close();
  const alone = spread(seen.get(1) ?? [], 'first_byte');
  const rows = [...seen].map(([count, outcomes]) => {
    const [connect, first] = [spread(outcomes, 'connect'), spread(outcomes, 'first_byte')];
    const notUp = outcomes.filter(({ status }) => status !== 'up').length;
    const ms = [connect.p50, connect.p99, first.p50, first.p99, first.p50 - alone.p50];
    return [String(count), ...ms.map(figure), notUp === 0 ? '' : String(notUp)];
  });
  console.log(
    `\nHTTP checks that begin together, every ${everyMs} ms, of a server on loopback that answers at once, in ms\n`,
  );
  printTable(['at once', 'connect p50', 'p99', 'first byte p50', 'p99', 'more than alone', 'not up'], rows);
  console.log('Aim: what sharing a slot of eight adds to the first byte is less than 0.3 ms at p50.');
}

function spread(outcomes: readonly Outcome[], phase: 'connect' | 'first_byte') {
  const sorted = outcomes.flatMap(({ phases }) => (phases[phase] ?? Number.NaN) * 1_000).toSorted((a, b) => a - b);
  return { p50: percentile(sorted, 0.5), p99: percentile(sorted, 0.99) };
}
