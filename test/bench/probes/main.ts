import { parseArgs } from 'node:util';
import { comeFirst, cpuSeconds, type Helper, missing, startHelper } from '../tools/processes.ts';
import { figure, printTable } from '../tools/table.ts';
import { type Blackbox, probedByBlackbox, startBlackbox } from './blackbox.ts';
import { type EchoesSpent, type EchoLoad, fpingEchoes } from './echoes.ts';
import { type BenchedType, benchedTypes, type Load, type Ports, type Spent } from './subject.ts';

// CPU and time for each check against loopback servers in another process: our probes through a node's agent, the bare library,
// and prometheus-blackbox-exporter asked over HTTP, one after the other in the same run. About two and a half minutes.

const { values: options } = parseArgs({
  args: process.argv.slice(3),
  options: {
    ms: { type: 'string', default: '1200' },
    type: { type: 'string', multiple: true },
    only: { type: 'string' },
    at: { type: 'string', multiple: true, default: ['1', '20', '200'] },
  },
});
const ms = Number(options.ms);
const types = benchedTypes.filter((type) => options.type?.includes(type) ?? true);
const concurrencies = options.at.map(Number);

comeFirst();
await using servers = startHelper<object, Ports>(new URL('servers.ts', import.meta.url));
const ports = await servers.ask({});
await using subjects = new AsyncDisposableStack();
const load = (script: string, ...args: string[]): Helper<Load, Spent> =>
  subjects.use(startHelper<Load, Spent>(new URL(script, import.meta.url), args));
const wanted = (name: string) => options.only === undefined || options.only === name;
const agent = load('ours.ts');
const thread = load('ours.ts', 'thread');
const raw = load('raw.ts');
const blackbox = await startPeer();

async function startPeer(): Promise<{ readonly program: Blackbox; readonly driver: Helper<Load, Spent> } | null> {
  const reason = missing('prometheus-blackbox-exporter');
  if (reason !== null) console.log(`without blackbox_exporter: ${reason}\n`);
  if (reason !== null || !wanted('blackbox')) return null;
  const program = subjects.use(await startBlackbox());
  return { program, driver: load('blackbox.ts', String(program.port)) };
}

const rows: string[][] = [];
for (const type of types) {
  for (const concurrency of concurrencies) {
    const plan = { type, concurrency, ms, ports };
    const ours = wanted('agent') ? await agent.ask(plan) : null;
    const bare = type !== 'ping' && wanted('raw') ? await raw.ask(plan) : null;
    const whole = concurrency === 20 && wanted('thread') ? await thread.ask(plan) : null;
    const theirs = await askBlackbox(type, plan);
    const row = (name: string, spent: Spent | null) => {
      if (spent === null) return;
      const cost = perCheck(spent);
      const ratio = ours === null ? '' : figure(perCheck(ours) / cost);
      const { seconds, checks, p50Ms, p99Ms, failures } = spent;
      const cells = [figure(cost), ratio, figure(checks / seconds), figure(p50Ms), figure(p99Ms)];
      rows.push([`${type}, ${name}`, String(concurrency), ...cells, failures === 0 ? '' : String(failures)]);
    };
    row('agent', ours);
    row('runs + thread', whole);
    row('bare library', bare);
    row('blackbox_exporter', theirs);
  }
}
printTable(['check', 'at once', 'CPU us', 'agent is x', 'per s', 'p50 ms', 'p99 ms', 'not up'], rows);

if (types.includes('ping') && options.only === undefined) await compareEchoes();

async function askBlackbox(type: BenchedType, plan: Load): Promise<Spent | null> {
  if (blackbox === null || !probedByBlackbox.includes(type)) return null;
  const { program, driver } = blackbox;
  const before = cpuSeconds(program.pid);
  const spent = await driver.ask(plan);
  // Seen from outside, the warm-up is in it.
  const share = spent.checks / spent.allChecks;
  return { ...spent, cpuSeconds: (cpuSeconds(program.pid) - before) * share };
}

function perCheck({ cpuSeconds, checks }: Spent): number {
  return (cpuSeconds * 1e6) / checks;
}

async function compareEchoes(): Promise<void> {
  if (missing('fping') !== null) return console.log('without fping: it is not installed');
  await using ours = startHelper<EchoLoad, EchoesSpent>(new URL('echoes.ts', import.meta.url));
  const plan = { targets: 1_000, spreadMs: 1_000 };
  await ours.ask({ ...plan, targets: 250 });
  const lines: string[][] = [];
  for (const [name, { cpuSeconds, lost }] of [
    ['agent', await ours.ask(plan)],
    ['fping', fpingEchoes(plan)],
    ['agent, again', await ours.ask(plan)],
    ['fping, again', fpingEchoes(plan)],
  ] as const) {
    lines.push([name, figure((cpuSeconds * 1e6) / plan.targets), String(lost)]);
  }
  printTable([`4 echoes to each of ${plan.targets} targets`, 'CPU us', 'lost'], lines);
}
