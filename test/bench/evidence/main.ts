import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createRoutedNetwork, routedNetworkObstacle } from '../../support/routed-network.ts';
import { comeFirst } from '../tools/processes.ts';
import { figure, printTable } from '../tools/table.ts';
import type { EvidenceCost } from './child.ts';

// What evidence costs the other checks: 1,000 healthy targets, while a router begins to drop the packets to fifty others. The same with
// evidence and without, in turn; the daemon runs in the namespace of a node behind four routers. `--quick` does it once each.
const { values } = parseArgs({ args: process.argv.slice(3), options: { quick: { type: 'boolean', default: false } } });
const rounds = values.quick ? 1 : 3;

const obstacle = routedNetworkObstacle();
if (obstacle !== null) throw new Error(obstacle);
comeFirst();
const found: EvidenceCost[] = [];
for (const isEnabled of Array.from({ length: rounds }, () => [true, false]).flat()) {
  await using network = createRoutedNetwork();
  const [, , router] = network.routers;
  if (router === undefined) throw new Error('there is no third router');
  const child = fileURLToPath(new URL('child.ts', import.meta.url));
  const command = [process.execPath, child, String(isEnabled), router.name, network.host.name];
  const args = ['netns', 'exec', network.node.name, ...command];
  const printed = execFileSync('ip', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  found.push({ ...(JSON.parse(printed.trim().split('\n').at(-1) ?? '') as EvidenceCost) });
  console.log(JSON.stringify(found.at(-1)));
}

const middle = (of: (cost: EvidenceCost) => number, isEnabled: boolean) => {
  const sorted = found.filter((one) => one.isEnabled === isEnabled).map(of);
  return sorted.toSorted((a, b) => a - b)[Math.floor(sorted.length / 2)] ?? Number.NaN;
};
const row = (name: string, of: (cost: EvidenceCost) => number) => {
  const [on, off] = [middle(of, true), middle(of, false)];
  return [name, figure(on), figure(off), (on / off).toFixed(2)];
};
console.log(`\nmedians of ${rounds}`);
printTable(
  ['', 'evidence on', 'off', 'ratio'],
  [
    row('lateness of the 1,000, p50 (ms)', ({ p50 }) => p50),
    row('p99 (ms)', ({ p99 }) => p99),
    row('longest (ms)', ({ max }) => max),
    row('a bare timer at the same time, p99 (ms)', ({ timerP99 }) => timerP99),
    row('CPU of the daemon (s)', ({ cpuSeconds }) => cpuSeconds),
  ],
);
