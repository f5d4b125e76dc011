import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { setTimeout as pause } from 'node:timers/promises';
import { createNetworkNamespace, namespaceObstacle, type NetworkNamespace } from '../../support/network-namespace.ts';
import { type Figures, figuresOf, formatTable, type Row } from './figures.ts';
import type { Job } from './sampler.ts';
import { measureFirstByte } from './first-byte.ts';
import { measureSlots } from './slots.ts';

const [, , , given = '20'] = process.argv;
const delayMs = Number(given);
if (!(delayMs >= 1 && delayMs <= 255)) throw new Error('the delay is a number of milliseconds from 1 to 255');
const host = `10.99.0.${delayMs}`;
const samples = 200;
const conditions = ['idle', 'blocked'] as const;

/** A process whose loop is in one of the conditions, with a measuring thread. */
interface Hub {
  measure(method: Job['method']): Promise<readonly number[]>;
  stop(): void;
}

type Measure = (namespace: NetworkNamespace, hub: Hub) => Promise<readonly number[]>;

const methods: readonly { readonly name: string; readonly program?: string; readonly measure: Measure }[] = [
  { name: 'watchpost ping', measure: async (_, hub) => hub.measure('ping') },
  { name: 'iputils ping', program: 'ping', measure: async (namespace) => runPing(namespace) },
  { name: 'fping', program: 'fping', measure: async (namespace) => runFping(namespace) },
  {
    name: 'blackbox_exporter icmp (rtt)',
    program: 'prometheus-blackbox-exporter',
    measure: async (_, hub) => hub.measure('blackboxIcmp'),
  },
  { name: 'watchpost tcp', measure: async (_, hub) => hub.measure('tcp') },
  {
    name: 'blackbox_exporter tcp (probe)',
    program: 'prometheus-blackbox-exporter',
    measure: async (_, hub) => hub.measure('blackboxTcp'),
  },
];

/** Prints how far off each method is from a delay that is known, idle and with the hub's loop held up. */
async function run(): Promise<void> {
  const obstacle = namespaceObstacle();
  if (obstacle !== null) throw new Error(obstacle);
  const folder = mkdtempSync(join(tmpdir(), 'accuracy-'));
  try {
    await using namespace = createNetworkNamespace();
    namespace.run(['sh', '-c', 'echo 0 2147483647 > /proc/sys/net/ipv4/ping_group_range']);
    // In front of everything else, so that it is not late itself.
    await namespace.reflect(exists('chrt') ? ['chrt', '--fifo', '50'] : []);
    await startBlackbox(namespace, folder);
    const cells = new Map<string, (Figures | string)[]>(methods.map(({ name }) => [name, []]));
    for (const condition of conditions) {
      const hub = await startHub(namespace, condition);
      for (const { name, program, measure } of methods) {
        const missing = program !== undefined && !exists(program);
        cells.get(name)?.push(missing ? `no ${program} here` : figuresOf(await measure(namespace, hub), delayMs));
      }
      hub.stop();
    }
    const rows = [...cells].map(([name, figures]): Row => [name, ...figures]);
    const [cpu] = cpus();
    console.log(`Error in ms against a reflector that answers after ${delayMs} ms; ${samples} samples each.`);
    console.log(`Node ${process.version}, Linux ${release()}, ${cpus().length} x ${cpu?.model ?? 'unknown CPU'}\n`);
    console.log(formatTable(['idle', 'loop held up 30 of 75 ms'], rows));
    console.log(
      '\nThe reflector’s own lateness is in every figure. From 10 ms on iputils ping and fping print tenths only.',
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function startHub(namespace: NetworkNamespace, condition: (typeof conditions)[number]): Promise<Hub> {
  const script = fileURLToPath(new URL('hub.ts', import.meta.url));
  const { stdin, stdout } = namespace.start([process.execPath, script, condition]);
  if (stdin === null || stdout === null) throw new Error('the hub has no pipes');
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  const next = async () => {
    const { value, done } = await lines.next();
    if (done === true) throw new Error('the hub ended');
    return JSON.parse(value) as { roundTripsMs?: number[]; error?: string };
  };
  await next();
  return {
    async measure(method) {
      stdin.write(`${JSON.stringify({ method, host, samples } satisfies Job)}\n`);
      const { roundTripsMs, error } = await next();
      if (roundTripsMs === undefined) throw new Error(`${method}: ${error}`);
      return roundTripsMs;
    },
    stop: () => stdin.end(),
  };
}

async function startBlackbox(namespace: NetworkNamespace, folder: string): Promise<void> {
  if (!exists('prometheus-blackbox-exporter')) return;
  const config = join(folder, 'blackbox.yml');
  const modules = ['icmp', 'tcp_connect'].map((name) => `  ${name}: { prober: ${name.split('_')[0]}, timeout: 5s }`);
  writeFileSync(config, `modules:\n${modules.join('\n')}\n`);
  namespace.start([
    'prometheus-blackbox-exporter',
    `--config.file=${config}`,
    '--web.listen-address=127.0.0.1:9115',
    '--log.level=error',
  ]);
  await pause(1_000);
}

async function runPing(namespace: NetworkNamespace): Promise<readonly number[]> {
  const text = await output(namespace, ['ping', '-n', '-c', `${samples}`, '-i', '0.025', host]);
  return [...text.matchAll(/ time=([\d.]+) ms/g)].map(([, ms]) => Number(ms));
}

async function runFping(namespace: NetworkNamespace): Promise<readonly number[]> {
  const text = await output(namespace, ['fping', '-C', `${samples}`, '-p', '25', host]);
  return [...text.matchAll(/ bytes, ([\d.]+) ms/g)].map(([, ms]) => Number(ms));
}

async function output(namespace: NetworkNamespace, command: readonly string[]): Promise<string> {
  const { stdout } = namespace.start(command, { quiet: true });
  let text = '';
  for await (const chunk of stdout ?? []) text += String(chunk);
  return text;
}

function exists(program: string): boolean {
  try {
    execFileSync('sh', ['-c', 'command -v "$0"', program], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

await run();
await measureFirstByte(delayMs);
await measureSlots();
