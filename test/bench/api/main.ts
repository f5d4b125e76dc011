import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { parseArgs } from 'node:util';
import { badRequest, complaintOf } from '../../support/bad-requests.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { measureCrowd } from './crowd.ts';
import { type Load, putLoad } from './load.ts';

// The check service over HTTP in a process of its own, with SQLite and a node that answers at once, beside a bare Fastify route
// of the same process that answers constant JSON. This process is the load. All ratios are of one run.

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: {
    seconds: { type: 'string', default: '4' },
    connections: { type: 'string', default: '16' },
    open: { type: 'string', default: '10000' },
    bad: { type: 'string', default: '100000' },
    only: { type: 'string' },
  },
});
if (values.only === 'crowd') {
  const isMet = await measureCrowd();
  process.exit(isMet ? 0 : 1);
}
const ms = Number(values.seconds) * 1_000;
const connections = Number(values.connections);

interface Figures {
  readonly rss: number;
  readonly heapUsed: number;
  readonly open: number;
  readonly cpuMs: number;
}

const child = fork(new URL('server.ts', import.meta.url).pathname, { execArgv: ['--expose-gc'] });
const [{ url, bare }] = (await once(child, 'message')) as [{ url: string; bare: string }];

async function tell(order: string): Promise<Figures> {
  child.send(order);
  const [figures] = (await once(child, 'message')) as [Figures];
  return figures;
}

const constant = () => ({ path: '/constant', answered: () => {} });
const start = () => ({ path: '/check-tcp?host=127.0.0.1%3A80&max_nodes=1', answered: () => {} });
const idOf = (body: string) => (JSON.parse(body) as { request_id: string }).request_id;

const ids: string[] = [];
let next = 0;
const read = () => ({ path: `/check-result/${ids[next++ % ids.length] ?? ''}`, answered: () => {} });
// A start, then its result, in turn on each connection.
const mine: (string | null)[] = [];
const startThenRead = (connection: number) => {
  const id = mine[connection] ?? null;
  mine[connection] = null;
  if (id !== null) return { path: `/check-result/${id}`, answered: () => {} };
  return { ...start(), answered: (body: string) => void (mine[connection] = idOf(body)) };
};

console.log(`${connections} connections, ${values.seconds} s each, one node, loopback\n`);
// Warm before anything is measured.
await putLoad(bare, connections, constant, { ms: ms / 2 });
await putLoad(url, connections, () => ({ ...start(), answered: (body) => void ids.push(idOf(body)) }), {
  count: 2_000,
});
await putLoad(url, connections, read, { ms: ms / 2 });

const rows: { readonly name: string; readonly load: Load; readonly cpuUs: number; readonly aim: number | null }[] = [];
async function measure(name: string, aim: number | null, load: () => Promise<Load>): Promise<void> {
  const before = await tell('figures');
  const found = await load();
  const after = await tell('look');
  rows.push({ name, load: found, cpuUs: ((after.cpuMs - before.cpuMs) * 1_000) / found.count, aim });
}
await measure('bare route, constant JSON', null, async () => putLoad(bare, connections, constant, { ms }));
await measure('check-result', 0.75, async () => putLoad(url, connections, read, { ms }));
await measure('check-tcp (start)', 0.4, async () => putLoad(url, connections, start, { ms }));
await measure('start and result, in turn', null, async () => putLoad(url, connections, startThenRead, { ms }));
await measure('bare route, again', null, async () => putLoad(bare, connections, constant, { ms }));

const mean = (of: (row: (typeof rows)[number]) => number) =>
  [rows[0], rows.at(-1)].reduce((sum, row) => sum + (row === undefined ? 0 : of(row)), 0) / 2;
const base = mean(({ load }) => load.perSecond);
// The load shares the cores with what is measured: where others keep them busy too, CPU tells more than rates.
const baseUs = mean(({ cpuUs }) => cpuUs);
console.log('                             per second   p50 ms   p99 ms   CPU us   of bare   by CPU   aim');
for (const { name, load, cpuUs, aim } of rows) {
  const share = `${Math.round((load.perSecond / base) * 100)} %`;
  console.log(
    `${name.padEnd(28)} ${load.perSecond.toFixed(0).padStart(10)} ${load.p50.toFixed(2).padStart(8)} ${load.p99.toFixed(2).padStart(8)} ` +
      `${cpuUs.toFixed(0).padStart(8)} ${share.padStart(9)} ${`${Math.round((baseUs / cpuUs) * 100)} %`.padStart(8)} ${aim === null ? '' : `${aim * 100} %`.padStart(6)}`,
  );
}

const openRuns = Number(values.open);
const idle = await tell('figures');
await tell('hold');
const opened: string[] = [];
const opening = await putLoad(
  url,
  connections,
  () => ({ ...start(), answered: (body) => void opened.push(idOf(body)) }),
  {
    count: openRuns,
  },
);
const full = await tell('figures');
let turn = 0;
const polling = await putLoad(
  url,
  connections,
  () => ({ path: `/check-result/${opened[turn++ % opened.length] ?? ''}`, answered: () => {} }),
  { ms },
);
await tell('release');
const after = await tell('figures');
const mb = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`;
console.log(
  `\n${full.open} open runs: started at ${opening.perSecond.toFixed(0)}/s, polled at ${polling.perSecond.toFixed(0)}/s (p99 ${polling.p99.toFixed(1)} ms)`,
);
console.log(
  `  memory before ${mb(idle.rss)} (heap ${mb(idle.heapUsed)}), with them ${mb(full.rss)} (heap ${mb(full.heapUsed)}): ${((full.heapUsed - idle.heapUsed) / openRuns / 1_000).toFixed(1)} kB each`,
);
console.log(`  all answered: ${after.open} open, heap ${mb(after.heapUsed)}`);

const bad = Number(values.bad);
const random = seededRandom(7);
const agent = new Agent({ keepAlive: true, maxSockets: connections });
const complaints: string[] = [];
let left = bad;
const began = performance.now();
const middle: Figures[] = [];
async function shoot(): Promise<void> {
  while (left > 0) {
    left -= 1;
    if (left === Math.floor(bad / 2)) middle.push(await tell('figures'));
    const complaint = await complaintOf(url, badRequest(random), agent);
    if (complaint !== null) complaints.push(complaint);
  }
}
await Promise.all(Array.from({ length: connections }, async () => shoot()));
agent.destroy();
const end = await tell('figures');
console.log(
  `\n${bad} bad requests in ${((performance.now() - began) / 1_000).toFixed(0)} s: ${complaints.length} answered wrongly, heap ${mb(middle[0]?.heapUsed ?? 0)} half-way, ${mb(end.heapUsed)} at the end`,
);
for (const complaint of complaints.slice(0, 20)) console.log(`  ${complaint}`);

child.send('end');
await once(child, 'exit');
const aimsMet = rows.every(({ load, aim }) => aim === null || load.perSecond >= aim * base);
console.log('');
const isCrowdBeaten = await measureCrowd();
if (!aimsMet || !isCrowdBeaten || complaints.length > 0) process.exitCode = 1;
