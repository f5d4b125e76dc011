import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { mortal } from '../../support/children.ts';
import { namespaceObstacle } from '../../support/network-namespace.ts';
import { findInstalled } from '../days/installed.ts';
import { usualTimes } from '../days/systems/system.ts';
import { comeFirst } from '../tools/processes.ts';
import { figure, printTable } from '../tools/table.ts';
import type { PeerResult } from './peer-child.ts';

// CPU, memory, disk and start times of the systems of the bad days with many healthy targets, one system after the other, each in
// namespaces of its own and with the configuration of the days.

const { values: options } = parseArgs({
  args: process.argv.slice(3),
  options: {
    targets: { type: 'string', multiple: true },
    minutes: { type: 'string' },
    system: { type: 'string', multiple: true },
    quick: { type: 'boolean', default: false },
  },
});
const sizes = (options.targets ?? ['100', '1000']).map(Number);
const seconds = Number(options.minutes ?? (options.quick ? 0.5 : 3)) * 60;
// Watchpost settles its slots of due times half a minute after a start.
const warmUpSeconds = options.quick ? 45 : 60;
if (sizes.some((size) => !Number.isInteger(size) || size < 1) || !(seconds > 0))
  throw new Error('--targets and --minutes are numbers above 0');
const obstacle = namespaceObstacle();
if (obstacle !== null) throw new Error(`the systems cannot be run here: ${obstacle}`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

comeFirst();
const installed = findInstalled(options.system);
console.log(
  `\nhttp targets on loopback, each checked every ${usualTimes.every} s; ${seconds} s after a warm-up of ${warmUpSeconds} s\n`,
);
const results: PeerResult[] = [];
for (const size of sizes) {
  for (const { system } of installed) {
    const result = await measure(system.name, size);
    if (result !== null) results.push(result);
  }
}
print();
process.exitCode = results.length === sizes.length * installed.length ? 0 : 1;

async function measure(system: string, size: number): Promise<PeerResult | null> {
  const folder = mkdtempSync(join(tmpdir(), 'watchpost-peers-'));
  try {
    const namespaces = ['--net', '--mount', '--pid', '--fork', '--mount-proc', '--kill-child'];
    const program = join(import.meta.dirname, 'peer-child.ts');
    const args = [program, system, String(size), String(warmUpSeconds), String(seconds), folder];
    const child = mortal(
      spawn('unshare', [...namespaces, process.execPath, '--no-warnings', ...args], {
        stdio: ['ignore', 'inherit', 'inherit'],
      }),
    );
    const [code] = (await once(child, 'exit')) as [number | null];
    if (code === 0) return JSON.parse(readFileSync(join(folder, 'result.json'), 'utf8')) as PeerResult;
    console.error(`${system}, ${size} targets: failed with ${String(code)}`);
    return null;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function print(): void {
  const megabytes = (bytes: number) => figure(bytes / 1_048_576);
  printTable(
    [
      'system',
      'targets',
      'checks of due',
      'CPU %',
      'CPU us each',
      'processes',
      'RSS MB',
      'PSS MB',
      'B written each',
      'late p50 ms',
      'p99 ms',
      'max ms',
      'timer p99 ms',
    ],
    results.map((one) => [
      one.system,
      String(one.targets),
      `${((one.checks / one.dueChecks) * 100).toFixed(0)} %`,
      figure((one.cpuSeconds / one.seconds) * 100),
      figure((one.cpuSeconds * 1e6) / one.checks),
      String(one.processes),
      megabytes(one.residentBytes),
      megabytes(one.proportionalBytes),
      figure(one.writtenBytes / one.checks),
      figure(one.late?.p50 ?? Number.NaN),
      figure(one.late?.p99 ?? Number.NaN),
      figure(one.late?.max ?? Number.NaN),
      figure(one.timerLate.p99),
    ]),
  );
}
