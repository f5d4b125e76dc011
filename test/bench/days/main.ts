import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { mortal } from '../../support/children.ts';
import { namespaceObstacle } from '../../support/network-namespace.ts';
import type { Day } from './day.ts';
import { days } from './days.ts';
import { type DayResult, judgeAgain } from './result.ts';
import { systems } from './systems/index.ts';
import type { System } from './systems/system.ts';
import { dayTable, sumTable } from './table.ts';

// The same bad days for Watchpost and for others: each day is a process with namespaces of its own, where all systems watch the same
// targets and send their mails to one mail server, each with its own configuration.

const { values: options } = parseArgs({
  args: process.argv.slice(3),
  options: {
    only: { type: 'string', multiple: true },
    system: { type: 'string', multiple: true },
    quick: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
    'at-once': { type: 'string', default: '1' },
    judge: { type: 'string', multiple: true },
  },
});
const quickDays = ['outage', 'blip', 'uplink', 'mail-away'];
const wanted = days.filter(({ name }) => options.only?.includes(name) ?? (!options.quick || quickDays.includes(name)));
const unknown = (options.only ?? []).filter((name) => !days.some((day) => day.name === name));
if (unknown.length > 0)
  throw new Error(`no day "${unknown.join(', ')}": use ${days.map(({ name }) => name).join(', ')}`);
const obstacle = namespaceObstacle();
if (obstacle !== null) throw new Error(`the days cannot be run here: ${obstacle}`);

const installed: System[] = [];
for (const system of systems.filter(({ name }) => options.system?.some((part) => name.includes(part)) ?? true)) {
  const missing = system.packages.filter((name) => versionOf(name) === null);
  if (missing.length === 0) installed.push(system);
  const versions = system.packages.map((name) => `${name} ${versionOf(name) ?? ''}`).join(', ');
  const own = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  if (missing.length > 0) console.log(`- ${system.name}: not run, not installed: ${missing.join(', ')}`);
  else console.log(`- ${system.name}: ${versions === '' ? `watchpost ${own.version}` : versions}`);
}
console.log(`- seed ${options.seed}\n`);

// No day outlives the driver.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
if (options.judge === undefined) await runAll();
else print(await judgeKept(options.judge));

async function runAll(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'watchpost-days-'));
  try {
    const done: DayResult[] = [];
    const waiting = [...wanted];
    const runInTurn = async () => {
      for (let day = waiting.shift(); day !== undefined; day = waiting.shift()) {
        const result = await run(day, folder);
        if (result !== null) done.push(result);
      }
    };
    await Promise.all(Array.from({ length: Number(options['at-once']) }, runInTurn));
    print(done);
    process.exitCode = done.length === wanted.length ? 0 : 1;
  } finally {
    if (options.keep) console.log(`logs, configurations, mails and the truth of each day: ${folder}`);
    else rmSync(folder, { recursive: true, force: true });
  }
}

/** Judges what `--keep` kept; of a day in several folders the last one counts. */
async function judgeKept(folders: readonly string[]): Promise<readonly DayResult[]> {
  const done = new Map<string, DayResult>();
  for (const path of folders.flatMap((folder) => globSync(join(folder, '*', 'result.json')))) {
    const result = await judgeAgain(dirname(path), systems);
    done.set(result.day, result);
  }
  return [...done.values()];
}

function print(done: readonly DayResult[]): void {
  const names = installed.map(({ name }) => name);
  console.log(`${dayTable(wanted, names, done)}\n${sumTable(names, done)}`);
}

/** The version of a Debian package, or null if it is not installed. */
function versionOf(name: string): string | null {
  try {
    return execFileSync('dpkg-query', ['-W', '-f', '${Version}', name], { encoding: 'utf8', stdio: 'pipe' });
  } catch {
    return null;
  }
}

async function run(day: Day, folder: string): Promise<DayResult | null> {
  const own = join(folder, day.name);
  mkdirSync(own);
  const program = join(import.meta.dirname, 'day-child.ts');
  const names = installed.map(({ name }) => name);
  const namespaces = ['--net', '--mount', '--pid', '--fork', '--mount-proc', '--kill-child'];
  const child = mortal(
    spawn(
      'unshare',
      [...namespaces, process.execPath, '--no-warnings', program, day.name, options.seed, own, ...names],
      { stdio: ['ignore', 'inherit', 'inherit'] },
    ),
  );
  const began = Date.now();
  const [code] = (await once(child, 'exit')) as [number | null];
  const path = join(own, 'result.json');
  if (code !== 0 || !existsSync(path)) {
    console.error(`${day.name}: failed with ${String(code)}`);
    return null;
  }
  console.error(`${day.name}: done in ${Math.round((Date.now() - began) / 1_000)} s`);
  return JSON.parse(readFileSync(path, 'utf8')) as DayResult;
}
