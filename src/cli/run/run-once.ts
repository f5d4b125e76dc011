import { checkOf } from '#checks/index.ts';
import { type CheckRunner, openChecking } from '#compose/checking.ts';
import type { Config } from '#config/config.ts';
import { askEachTime } from '#config/lists/listed-targets.ts';
import { loadConfig } from '#config/load.ts';
import { nearest } from '#kernel/wording.ts';
import { sleep, systemClock } from '#kernel/clock.ts';
import { WatchpostError } from '#kernel/errors.ts';
import { createLog, type LogLevel } from '#kernel/log.ts';
import { systemRandom } from '#kernel/random.ts';
import { formatSeconds } from '#kernel/units.ts';
import { isOutage } from '#monitor/judge/rules/index.ts';
import { tally, type Verdict } from '#monitor/judge/verdict.ts';
import type { Vote } from '#monitor/judge/vote.ts';
import type { Runner } from '#monitor/watch/runner.ts';
import { jsonText } from '../shared/json.ts';
import { exitCodeOf } from '../check/outcome.ts';
import { type StateColor, paintOf } from '../shared/paint.ts';
import { createProgress } from '../shared/progress.ts';
import { alignRows } from '../shared/table.ts';
import type { CommandContext } from '../shared/command-context.ts';

export interface OnceOptions {
  readonly config: string;
  readonly logLevel: LogLevel;
  /** The one target to check, or true for all. */
  readonly once: string | true;
  readonly json?: boolean;
}

type OnceTarget = Config['targets'][number];

interface SingleRound {
  readonly target: OnceTarget;
  readonly votes: readonly Vote[];
  readonly verdict: Verdict;
}

/**
 * One round of every target, or of the one that is named, as a table. Nothing is stored and no notification is sent. Exit code 1
 * if a target is down by its first rule, else 3 if one is unknown, else 0.
 */
export async function runOnce(options: OnceOptions, context: CommandContext): Promise<number> {
  const config = await loadConfig({ path: options.config, env: context.env, readList: askEachTime(systemClock) });
  const targets = chosen(config.targets, options.once);
  const environment = {
    clock: systemClock,
    random: systemRandom,
    log: createLog({ level: options.logLevel, pretty: context.interactive, fd: 2 }),
    version: context.version,
    pid: context.pid,
  };
  const progress = createProgress('targets', targets.length, context);
  const checking = await openChecking(config, environment, null);
  try {
    await embeddedStarted(checking, context.stop);
    const rounds = await Promise.all(
      targets.map(async (target) => {
        const round = await runRound(target, checking.runner, context.stop);
        progress.step();
        return round;
      }),
    );
    context.print(options.json === true ? jsonOf(rounds) : `${tableOf(rounds, paintOf(context)).join('\n')}\n`);
    const statuses = rounds.map(({ verdict: { failing, status } }) => (failing === true ? 'down' : status));
    return exitCodeOf((['down', 'unknown'] as const).find((status) => statuses.some((one) => one === status)) ?? 'up');
  } finally {
    progress.end();
    await checking.close();
  }
}

const startMs = 60_000;

// On a slow machine nodes may take longer to start than a check may take: its time begins when they are there.
async function embeddedStarted(checking: Pick<CheckRunner, 'statuses'>, signal: AbortSignal): Promise<void> {
  const by = systemClock.elapsed() + startMs;
  const isStarting = () => checking.statuses().some(({ starting }) => starting === true);
  while (isStarting() && systemClock.elapsed() < by) await sleep(systemClock, 20, signal);
}

function chosen(targets: readonly OnceTarget[], once: string | true): readonly OnceTarget[] {
  // Only a daemon hears what calls.
  const looked = targets.filter(({ spec }) => checkOf(spec.type).heard === null);
  if (once === true) return looked;
  const found = looked.filter(({ name }) => name === once);
  if (found.length === 0 && targets.some(({ name }) => name === once))
    throw new WatchpostError('usage', `${once} is a job that calls: there is nothing to look at`);
  if (found.length > 0) return found;
  const near = nearest(
    once,
    targets.map(({ name }) => name),
  );
  throw new WatchpostError(
    'usage',
    `no target "${once}" under targets${near === null ? '' : ` (did you mean "${near}"?)`}`,
  );
}

async function runRound(target: OnceTarget, runner: Runner, signal: AbortSignal): Promise<SingleRound> {
  const { spec, nodes, rules } = target;
  const { votes } = await runner.run({ spec, nodes }, signal);
  const rule = rules.find((named) => isOutage(named.rule))?.rule;
  return { target, votes, verdict: tally(votes, rule?.threshold ?? { kind: 'majority' }, rule?.quorum) };
}

function jsonOf(rounds: readonly SingleRound[]): string {
  const shown = rounds.map(({ target: { name, spec }, verdict, votes }) => {
    return { target: name, check: spec.type, host: spec.host, verdict: verdict.status, votes };
  });
  return jsonText(shown);
}

function tableOf(rounds: readonly SingleRound[], paint: StateColor): readonly string[] {
  const rows = rounds.flatMap(({ target, votes, verdict }) =>
    votes.map(({ node, outcome }, index) => [
      index === 0 ? target.name : '',
      index === 0 ? paint(verdict.status) : '',
      node.name,
      paint(outcome.status),
      outcome.seconds === null ? '-' : formatSeconds(outcome.seconds),
      outcome.status === 'up' ? `${target.spec.type} ${target.spec.host}` : outcome.failure.message,
    ]),
  );
  return alignRows([['target', 'verdict', 'node', 'saw', 'took', ''], ...rows]);
}
