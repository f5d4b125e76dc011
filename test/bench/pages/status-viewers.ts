import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { createProgram } from '../../support/program.ts';
import { tcpServer } from '../../support/tcp-servers.ts';
import { cpuSeconds, memoryBytes } from '../tools/processes.ts';
import { figure, percentile, printTable } from '../tools/table.ts';

// A status page with ten services on a bad day: ten thousand viewers with their streams, and the page loaded again and again.

const viewers = 10_000;
const seconds = 60;

/** Measures what so many viewers of a status page cost, and how fast others are answered meanwhile. */
export async function measureStatusViewers(): Promise<void> {
  await using server = await tcpServer((socket) => socket.end());
  await using program = await createProgram();
  const names = Array.from({ length: 10 }, (_, index) => `service-${index}`);
  const running = await program.start(`
data: watchpost.db
http: { listen: 127.0.0.1:0, connections: 20000 }
defaults: { every: 1s }
targets:
${names.map((name) => `  ${name}: { check: tcp, host: "127.0.0.1:${server.port}" }`).join('\n')}
pages: { status: { targets: { ${names.map((name) => `${name}: ${name}`).join(', ')} } } }
`);
  const pid = running.process.pid ?? 0;
  await sleep(15_000);
  const child = fork(new URL('viewers-child.ts', import.meta.url), [`${running.url}/live/status`, String(viewers)]);
  await once(child, 'message');
  const ask = async () => {
    child.send('how many?');
    const [crowd] = (await once(child, 'message')) as [{ readonly bytes: number; readonly count: number }];
    return crowd;
  };
  await sleep(10_000);
  const [cpu, before] = [cpuSeconds(pid), await ask()];
  const health: number[] = [];
  const pages: number[] = [];
  const end = performance.now() + seconds * 1_000;
  while (performance.now() < end) {
    health.push(await timeOf(`${running.url}/healthz`));
    // As many as come anew in a second if each stays for two minutes.
    const loads = Array.from({ length: 80 }, async () => timeOf(`${running.url}/status`));
    pages.push(...(await Promise.all(loads)));
    await sleep(Math.max(0, 1_000 - (performance.now() % 1_000)));
  }
  const after = await ask();
  const share = (times: readonly number[]) =>
    percentile(
      times.toSorted((a, b) => a - b),
      0.99,
    );
  printTable(
    ['viewers', 'kB/s each', 'CPU %', 'RSS MB', '/healthz p99 ms', '/status p99 ms, 80/s'],
    [
      [
        String(after.count),
        figure((after.bytes - before.bytes) / seconds / viewers / 1_000),
        (((cpuSeconds(pid) - cpu) / seconds) * 100).toFixed(0),
        (memoryBytes(pid).now / 1e6).toFixed(0),
        share(health).toFixed(0),
        share(pages).toFixed(0),
      ],
    ],
  );
  child.disconnect();
}

async function timeOf(url: string): Promise<number> {
  const begun = performance.now();
  const response = await fetch(url);
  await response.arrayBuffer();
  return performance.now() - begun;
}
