import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { mortal } from '../../support/children.ts';
import { namespaceObstacle } from '../../support/network-namespace.ts';
import type { Day } from './day.ts';
import { days } from './days.ts';
import { differencesOf, isWrong, readRun, type RunRecord, saveRun, worstOf } from './record.ts';
import { type DayResult, judgeAgain } from './result.ts';
import { findInstalled, type Installed } from './installed.ts';
import { systems } from './systems/index.ts';
import { dayTable, historyCellOf, sumTable } from './table.ts';

// The same bad days for Watchpost and for others: each day is a process with namespaces of its own, where all systems watch the same
// targets and send their mails to one mail server, each with its own configuration.

const { values: options, positionals } = parseArgs({
  args: process.argv.slice(3),
  allowPositionals: true,
  options: {
    only: { type: 'string', multiple: true },
    system: { type: 'string', multiple: true },
    quick: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
    'at-once': { type: 'string', default: '1' },
    judge: { type: 'string', multiple: true },
    repeat: { type: 'string', default: '1' },
    save: { type: 'string' },
    compare: { type: 'boolean', default: false },
  },
});
if (options.compare === (positionals.length !== 2))
  throw new Error('--compare takes two files that --save has written; nothing else takes files');
// What a busy machine does to the driver itself says nothing about the systems: a target that answers late is slow from 1.5 s on.
const longestHeldUpMs = 1_000;
const mostTries = 3;
// Where it depends on chance what a system gets wrong, its worst of so many lives of the day counts.
const livesByChance = 3;
const quickDays = ['outage', 'blip', 'uplink', 'mail-away'];
const wanted = days.filter(
  ({ name, isExtra }) => options.only?.includes(name) ?? (options.quick ? quickDays.includes(name) : isExtra !== true),
);
const unknown = (options.only ?? []).filter((name) => !days.some((day) => day.name === name));
if (unknown.length > 0)
  throw new Error(`no day "${unknown.join(', ')}": use ${days.map(({ name }) => name).join(', ')}`);
// No day outlives the driver.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
if (options.compare) process.exitCode = compare(positionals.map(readRun));
else if (options.judge === undefined) await runRepeatedly();
else print(await judgeKept(options.judge), findInstalled(options.system));

async function runRepeatedly(): Promise<void> {
  const obstacle = namespaceObstacle();
  if (obstacle !== null) throw new Error(`the days cannot be run here: ${obstacle}`);
  const installed = findInstalled(options.system);
  console.log(`- seed ${options.seed}\n`);
  const runs: RunRecord[] = [];
  let isComplete = true;
  for (let time = 1; time <= Number(options.repeat); time += 1) {
    const at = new Date().toISOString();
    const done = await runAll(installed);
    isComplete &&= done.length === wanted.length;
    print(done, installed);
    const versions = Object.fromEntries(installed.map((one) => [one.system.name, one.versions]));
    const run = { seed: Number(options.seed), at, versions, days: done };
    runs.push(run);
    if (options.save !== undefined) saveRun(time === 1 ? options.save : `${options.save}.${time}`, run);
  }
  const differing = runs.slice(1).map((run) => compare([runs[0] ?? run, run]));
  process.exitCode = isComplete ? Math.max(0, ...differing) : 1;
}

/** Prints where the verdicts of two runs differ. Returns the exit code. */
function compare([one, other]: readonly RunRecord[]): 0 | 1 {
  if (one === undefined || other === undefined) throw new Error('two runs are compared');
  const count = one.days.reduce((sum, { results }) => sum + results.length, 0);
  const differences = differencesOf(one, other).map((difference) => {
    const { varies } = days.find(({ name }) => name === difference.day) ?? {};
    // Watchpost has to do the same on every day, and what is right once has to be so again.
    const mayVary = !difference.system.startsWith('Watchpost') && difference.verdicts.every(isWrong);
    return { ...difference, reason: mayVary ? varies : undefined };
  });
  for (const { day, system, verdicts, reason } of differences)
    console.log(
      `${day}, ${system}: ${verdicts.join(' | ')}${reason === undefined ? '' : ` (wrong in both; in which way depends on ${reason})`}`,
    );
  const failures = differences.filter(({ reason }) => reason === undefined).length;
  console.log(
    `${count} verdicts in the first run, ${failures} differ; ${differences.length - failures} are wrong in another way`,
  );
  return failures === 0 ? 0 : 1;
}

async function runAll(installed: readonly Installed[]): Promise<readonly DayResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'watchpost-days-'));
  try {
    const done: DayResult[] = [];
    const waiting = wanted.flatMap((day) =>
      Array.from({ length: day.varies === undefined ? 1 : livesByChance }, (_, life) => ({ day, life })),
    );
    const runInTurn = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const result = await runUndisturbed(next.day, join(folder, String(next.life + 1)), installed);
        if (result !== null) done.push(result);
      }
    };
    await Promise.all(Array.from({ length: Number(options['at-once']) }, runInTurn));
    return [...Map.groupBy(done, ({ day }) => day).values()].map(worstOf);
  } finally {
    if (options.keep) console.log(`logs, configurations, mails and the truth of each day: ${folder}`);
    else rmSync(folder, { recursive: true, force: true });
  }
}

/** Judges what `--keep` kept; of a life in several folders the last one counts. */
async function judgeKept(folders: readonly string[]): Promise<readonly DayResult[]> {
  const done = new Map<string, DayResult>();
  for (const path of folders.flatMap((folder) => globSync(join(folder, '*', '*', '*', 'result.json')))) {
    const life = path.split('/').at(-4) ?? '';
    const result = await judgeAgain(dirname(path), systems);
    done.set(`${life} ${result.day}`, result);
  }
  return [...Map.groupBy(done.values(), ({ day }) => day).values()].map(worstOf);
}

function print(done: readonly DayResult[], installed: readonly Installed[]): void {
  const names = installed.map(({ system }) => system.name);
  console.log(`${dayTable(wanted, names, done)}\n${sumTable(names, done)}`);
  console.log('Downtime in the own history against the truth, of the target with the largest error of each day:\n');
  console.log(dayTable(wanted, names, done, historyCellOf));
  const faults = done.flatMap(({ day, results }) =>
    results.flatMap(({ system, history }) =>
      history !== null && 'fault' in history ? [`${day}, ${system}: ${history.fault}`] : [],
    ),
  );
  if (faults.length > 0) console.log(`without a history:\n${faults.join('\n')}`);
}

async function runUndisturbed(day: Day, folder: string, installed: readonly Installed[]): Promise<DayResult | null> {
  for (let attempt = 1; ; attempt += 1) {
    const result = await run(day, join(folder, String(attempt)), installed);
    if (result === null || (result.heldUpMs ?? 0) <= longestHeldUpMs) return result;
    const seconds = ((result.heldUpMs ?? 0) / 1_000).toFixed(1);
    if (attempt === mostTries)
      throw new Error(`${day.name}: the driver was held up for ${seconds} s: the machine is too busy`);
    console.error(`${day.name}: the driver was held up for ${seconds} s; lived again`);
  }
}

async function run(day: Day, folder: string, installed: readonly Installed[]): Promise<DayResult | null> {
  const own = join(folder, day.name);
  mkdirSync(own, { recursive: true });
  const program = join(import.meta.dirname, 'day-child.ts');
  const names = installed.map(({ system }) => system.name);
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
