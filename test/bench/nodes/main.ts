import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { natsObstacle } from '../../support/nats-server.ts';
import { comeFirst } from '../tools/processes.ts';
import { printResultAims } from './aims.ts';
import { measureCommands } from './commands.ts';
import { measureOneNode } from './one-node.ts';
import { measureResults } from './results.ts';

// Nodes on other machines: what they see into one hub, one of them at its limit and beyond, and what is asked for at once.

const { values: options } = parseArgs({
  args: process.argv.slice(3),
  options: {
    only: { type: 'string', multiple: true, default: ['results', 'one-node', 'commands'] },
    quick: { type: 'boolean', default: false },
    rate: { type: 'string', multiple: true },
    seconds: { type: 'string' },
    share: { type: 'string' },
  },
});
const { quick } = options;
const seconds = Number(options.seconds ?? (quick ? 10 : 30));

// Null is all of a core: with a share of one a hub is overloaded by less.
function sharesOf(named: string | undefined, isQuick: boolean): readonly (number | null)[] {
  if (named !== undefined) return [Number(named)];
  if (isQuick) return [null];
  if (process.getuid?.() === 0) return [null, 0.25];
  console.log('a quarter of a core: skipped, because cgroups take root');
  return [null];
}

const obstacle = natsObstacle();
if (obstacle === null) {
  comeFirst();
  console.log(`${cpus().length} cores, ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version}\n`);
  if (options.only.includes('results')) {
    const rates = (options.rate ?? (quick ? ['1000', '5000'] : ['1000', '5000', '12000', '20000'])).map(Number);
    const loads = sharesOf(options.share, quick).flatMap((share) =>
      rates.map((perSecond) => ({ nodes: 20, perSecond, seconds, share })),
    );
    printResultAims(await measureResults(loads));
    console.log('aim: 60 us of CPU of the hub for each result\n');
  }
  if (options.only.includes('one-node')) {
    await measureOneNode(
      (options.rate ?? (quick ? ['1000', '10000'] : ['1000', '5000', '10000'])).map(Number),
      seconds,
    );
    console.log(
      'aims: 5,000 results/s from one node; asked for twice of what it can, it leaves rounds out and goes on\n',
    );
  }
  if (options.only.includes('commands')) {
    const counts = quick ? [20] : [1, 20, 200];
    await measureCommands(counts.flatMap((count) => [500, null].map((rate) => [count, rate] as const)));
  }
} else {
  console.log(obstacle);
}
