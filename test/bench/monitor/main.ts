import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { comeFirst, missing, startHelper } from '../tools/processes.ts';
import { measureBare } from './bare.ts';
import { measureFping } from './fping.ts';
import { measurePeers } from './peers.ts';
import { plotOf } from './plot.ts';
import { printAims, printLiveHeap, printResults } from './report.ts';
import type { Result, Times } from './result.ts';
import type { Arrivals } from './servers.ts';
import { createTargets, intervalMsOf, type Kind, kinds } from './targets.ts';
import { measureWatchpost } from './watchpost.ts';

// The whole daemon on many targets, and others on the same ones after it: what a check costs, how late it starts, what is held and
// kept. Each number of targets and kind of check is a run of its own; `--results` gathers those of several calls.

const { values: options } = parseArgs({
  args: process.argv.slice(3),
  options: {
    targets: { type: 'string', multiple: true },
    type: { type: 'string', multiple: true },
    'warm-up': { type: 'string' },
    minutes: { type: 'string' },
    only: { type: 'string', multiple: true, default: ['watchpost', 'peers'] },
    quick: { type: 'boolean', default: false },
    results: { type: 'string' },
    plot: { type: 'string' },
  },
});
const sizes = (options.targets ?? (options.quick ? ['1000'] : ['100', '1000', '10000'])).map(Number);
const wanted = kinds.filter((kind) => options.type?.includes(kind) ?? true);
if (wanted.length === 0 || sizes.some((size) => !(size > 0)))
  throw new Error(`--type is one of ${kinds.join(', ')}, --targets a number`);

const minuteMs = 60_000;
// Node compiles what runs often while it runs: a small plan takes longer until it has, and has an aim of its own for then.
const warmUpMinutes = (kind: Kind, size: number) => (options.quick ? 0 : size <= 100 && kind === 'http' ? 10 : 2);

function timesOf(kind: Kind, size: number): Times {
  const intervalMs = intervalMsOf[kind];
  const warmUpMs = Number(options['warm-up'] ?? warmUpMinutes(kind, size)) * minuteMs;
  const measuredMs = Number(options.minutes ?? (options.quick ? 0 : 2)) * minuteMs;
  const wholeIntervals = Math.max(2, Math.round(measuredMs / intervalMs));
  return { warmUpMs: Math.max(warmUpMs, 2 * intervalMs), measuredMs: wholeIntervals * intervalMs };
}

comeFirst();
await using servers = startHelper<object, Arrivals>(new URL('servers.ts', import.meta.url));
const withoutPeers =
  ['prometheus', 'prometheus-blackbox-exporter'].map(missing).find((reason) => reason !== null) ?? null;
if (withoutPeers !== null) console.log(`without blackbox_exporter and Prometheus: ${withoutPeers}\n`);
let results = known();
for (const size of sizes) {
  for (const kind of wanted) {
    const done = await measure(kind, size);
    const again = (one: Result) =>
      done.some(
        ({ kind, targets, subject }) => `${kind} ${targets} ${subject}` === `${one.kind} ${one.targets} ${one.subject}`,
      );
    results = [...results.filter((one) => !again(one)), ...done];
    if (options.results !== undefined) writeFileSync(options.results, `${JSON.stringify(results, null, 1)}\n`);
  }
}
printResults(results);
printAims(results);
printLiveHeap(results);
if (options.plot !== undefined) writeFileSync(options.plot, plotOf(results));

function known(): readonly Result[] {
  if (options.results === undefined || !existsSync(options.results)) return [];
  return JSON.parse(readFileSync(options.results, 'utf8')) as readonly Result[];
}

async function measure(kind: Kind, size: number): Promise<readonly Result[]> {
  const targets = createTargets(kind, size);
  const times = timesOf(kind, size);
  const done: Result[] = [];
  const seconds = (ms: number) => `${ms / 1_000} s`;
  console.log(
    `${size} targets of ${kind} every ${seconds(intervalMsOf[kind])}, measured for ${seconds(times.measuredMs)} after ${seconds(times.warmUpMs)}`,
  );
  if (options.only.includes('watchpost')) done.push(await measureWatchpost(kind, targets, times, servers));
  // What is compiled before it runs is warm after two intervals.
  const short = { ...times, warmUpMs: 2 * intervalMsOf[kind] };
  if (options.only.includes('peers') && withoutPeers === null)
    done.push(...(await measurePeers(kind, targets, short, servers)));
  if (options.only.includes('peers') && kind === 'ping' && missing('fping') === null)
    done.push(await measureFping(targets));
  if (options.only.includes('bare') && kind !== 'ping') done.push(await measureBare(kind, targets, short, servers));
  return done;
}
