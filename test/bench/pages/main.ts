import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { dayMs } from '#kernel/units.ts';
import { createProgram } from '../../support/program.ts';
import { tcpServer } from '../../support/tcp-servers.ts';
import { sumsOf, writeYear } from '../../support/written-year.ts';
import { comeFirst, cpuSeconds, memoryBytes } from '../tools/processes.ts';
import { figure, percentile, printTable } from '../tools/table.ts';
import { measureFirstView } from './first-view.ts';
import { measureStatusViewers } from './status-viewers.ts';
import { openViewers } from './viewers.ts';

// Pages of the real program with 1,000 targets on 3 nodes and a year of history, each beside a bare route that sends as many bytes;
// then a thousand viewers with their streams, and how late checks begin meanwhile.

comeFirst();
if (process.argv.includes('--status')) {
  await measureStatusViewers();
  process.exit(0);
}
if (process.argv.includes('--first')) {
  await measureFirstView();
  process.exit(0);
}
const targets = Array.from({ length: 1_000 }, (_, index) => `target-${String(index).padStart(4, '0')}`);
const nodes = ['de1', 'us1', 'jp1'];
const [loads, seconds, viewers] = [30, 60, 1_000];

await using server = await tcpServer((socket) => socket.end());
await using program = await createProgram();
const config = `
data: watchpost.db
http: { listen: 127.0.0.1:0, connections: 1200 }
service: {}
nodes:
  de1: { location: [de, Germany, Frankfurt] }
  us1: { location: [us, USA, Boston] }
  jp1: { location: [jp, Japan, Tokyo] }
defaults: { every: 30s, objective: "99.9% over 30d" }
targets:
${targets.map((name, index) => `  ${name}: { check: tcp, host: "127.0.0.1:${server.port}", labels: { team: team${index % 10} } }`).join('\n')}
pages: { status: { targets: { ${targets
  .slice(0, 10)
  .map((name) => `${name}: ${name}`)
  .join(', ')} } } }
`;
const first = await program.start(config);
await first.end('SIGTERM');
const ordinary = (rounds: number) =>
  sumsOf(Array.from({ length: rounds }, (_, round) => 20_000 + ((round * 7_919) % 20_000)));
const [hour, day] = [ordinary(120), ordinary(120 * 24)] as const;
const today = Math.floor(Date.now() / dayMs);
// Ten minutes a month.
const outages = Array.from({ length: 12 }, (_, month) => (today - (11 - month) * 30) * dayMs).map((to) => ({
  from: to - 600_000,
  to,
}));
writeYear(program.database, {
  targets,
  nodes,
  sums: (_, __, { from, to }) => (to - from === dayMs ? day : hour),
  outages: () => outages,
});
const running = await program.start(config);
const pid = running.process.pid ?? 0;
await sleep(90_000);

const bare = fork(new URL('bare-child.ts', import.meta.url));
const [port] = (await once(bare, 'message')) as [number];
const rows: string[][] = [];
for (const path of [
  '/',
  '/?group=team',
  '/?view=wall',
  '/targets/target-0500?span=10m',
  '/targets/target-0500?span=7d',
  '/targets/target-0500?span=1y',
  '/targets/target-0500/series?span=1y',
  '/incidents',
  '/nodes',
  '/check',
  '/status',
]) {
  const ours = await loadsOf(`${running.url}${path}`);
  const beside = await loadsOf(`http://127.0.0.1:${port}/${ours.bytes}`);
  rows.push([
    path,
    figure(ours.p50),
    figure(ours.most),
    figure(beside.p50),
    (ours.bytes / 1_000).toFixed(0),
    (ours.packed / 1_000).toFixed(1),
  ]);
}
bare.kill();
printTable(['page', 'p50 ms', 'max ms', 'bare ms', 'kB', 'kB packed'], rows);

const calm = await watch(seconds);
using crowd = await openViewers(`${running.url}/live/overview`, viewers);
const crowded = await watch(seconds, crowd);
printTable(
  ['viewers', 'late p50 ms', 'late p99 ms', 'over 50 ms', 'CPU %', 'RSS MB', 'kB/s each'],
  [
    ['0', ...calm],
    [String(crowd.count()), ...crowded],
  ],
);
await running.end('SIGKILL');
await measureStatusViewers();

async function loadsOf(url: string) {
  const times: number[] = [];
  let text = '';
  for (let load = 0; load < loads; load += 1) {
    const begun = performance.now();
    const response = await fetch(url, { headers: { accept: 'text/html', 'accept-encoding': 'identity' } });
    text = await response.text();
    if (load > 0) times.push(performance.now() - begun);
  }
  const sorted = times.toSorted((a, b) => a - b);
  const bytes = Buffer.byteLength(text);
  return { p50: percentile(sorted, 0.5), most: sorted.at(-1) ?? 0, bytes, packed: gzipSync(text, { level: 5 }).length };
}

/** How late checks begin within so many seconds, by the program's own histogram, and what it takes. */
async function watch(seconds: number, crowd?: { bytes(): number }): Promise<string[]> {
  const [before, cpu, bytes] = [await lags(), cpuSeconds(pid), crowd?.bytes() ?? 0];
  await sleep(seconds * 1_000);
  const after = await lags();
  const counts = after.map(({ upTo, count }, index) => ({ upTo, count: count - (before[index]?.count ?? 0) }));
  const all = counts.at(-1)?.count ?? 0;
  const share = (quantile: number) => counts.find(({ count }) => count >= quantile * all)?.upTo ?? Number.NaN;
  const within = counts.find(({ upTo }) => upTo === 0.05)?.count ?? 0;
  const each = ((crowd?.bytes() ?? 0) - bytes) / seconds / viewers / 1_000;
  return [
    `<= ${share(0.5) * 1_000}`,
    `<= ${share(0.99) * 1_000}`,
    `${all - within} of ${all}`,
    (((cpuSeconds(pid) - cpu) / seconds) * 100).toFixed(0),
    (memoryBytes(pid).now / 1e6).toFixed(0),
    crowd === undefined ? '-' : figure(each),
  ];
}

async function lags() {
  const text = await (await fetch(`${running.url}/metrics`)).text();
  const lines = text.matchAll(/^watchpost_schedule_lag_seconds_bucket\{le="([^"]+)"\} (\d+)/gm);
  return [...lines].map(([, upTo, count]) => ({
    upTo: Number(upTo?.replace('+Inf', 'Infinity')),
    count: Number(count),
  }));
}
