import { z } from 'zod';
import type { Config } from '#config/config.ts';
import { loadConfig } from '#config/load.ts';
import { askEachTime } from '#config/lists/listed-targets.ts';
import { Outline, outlineOf } from '#config/apply/outline.ts';
import { systemClock } from '#kernel/clock.ts';
import { WatchpostError } from '#kernel/errors.ts';
import { systemRandom } from '#kernel/random.ts';
import { storedBy } from '#store/reading.ts';
import { askDaemon } from '../shared/ask-daemon.ts';
import { urlOfDaemon } from '../shared/daemon-url.ts';
import { jsonText } from '../shared/json.ts';
import { listLines } from '../shared/list-lines.ts';
import { type Changes, changesBetween, newsOf, type PlanIncident } from './plan-changes.ts';
import { type PlanFigures, figuresOf, whenOf } from './plan-figures.ts';
import { type Plan, wordsOf } from './plan-words.ts';
import type { CommandContext } from '../shared/command-context.ts';

export interface PlanOptions {
  readonly config: string;
  readonly json?: boolean;
  /** Print what stays as it is, too. */
  readonly all?: boolean;
}

/** Compares a configuration with what runs, and where nothing runs with what was stored. Nothing is changed by it. */
export async function planConfig({ config: path, json, all }: PlanOptions, context: CommandContext): Promise<number> {
  const config = await loadConfig({ path, env: context.env, readList: askEachTime(systemClock) });
  for (const line of listLines(config)) context.printError(`${line}\n`);
  const plan = await planOf(config);
  context.print(json === true ? jsonText(jsonOf(plan)) : wordsOf(plan, all === true));
  return 0;
}

async function planOf(config: Config): Promise<Plan> {
  const salt = systemRandom.id(20);
  const now = systemClock.now();
  const outline = outlineOf(config, salt);
  const cost = figuresOf(outline, now);
  const running = await fetchRunningState(config, salt);
  if (running !== null) {
    const { outline: before, incidents } = running;
    const changes = changesBetween(before, outline, incidents);
    const beside = { kind: 'daemon', where: urlOfDaemon(config.http) } as const;
    return { beside, outline, changes, before: figuresOf(before, now), after: cost };
  }
  const stored = storedBy(config.data);
  const names = outline.targets.map(({ name }) => name);
  const watched = new Map(outline.targets.map((target) => [target.name, target]));
  const orphans = new Set((stored?.incidents ?? []).map(({ target }) => target).filter((name) => !watched.has(name)));
  const changes: Changes = {
    added: names.filter((name) => stored?.targets.includes(name) !== true),
    removed: [...orphans],
    changed: [],
    settings: [],
    needsRestart: [],
    secrets: false,
    news: newsOf(stored?.incidents ?? [], watched),
  };
  return {
    beside: stored === null ? null : { kind: 'database', where: config.data },
    outline,
    changes,
    before: null,
    after: cost,
  };
}

const Incident = z
  .object({
    id: z.string(),
    target: z.string(),
    rule: z.string(),
    severity: z.string(),
    told: z.array(z.object({ channel: z.string(), recipient: z.string() })).nullable(),
    held: z.string().nullable(),
  })
  .transform(({ held, told: notified, ...incident }): PlanIncident => ({
    ...incident,
    notified,
    isHeld: held !== null,
  }));
const Running = z.object({ outline: Outline, incidents: z.array(Incident) });

async function fetchRunningState(config: Config, salt: string): Promise<z.output<typeof Running> | null> {
  try {
    return Running.parse(await askDaemon(config, `/-/plan?salt=${salt}`));
  } catch (error) {
    if (error instanceof WatchpostError && error.code === 'daemon_unreachable') return null;
    throw error;
  }
}

function jsonOf({ beside, changes, before, after }: Plan) {
  const { needsRestart, ...rest } = changes;
  return {
    beside,
    ...rest,
    needs_restart: needsRestart,
    targets: after.planned.map(({ target, rounds, nodes }) => ({
      target: target.name,
      check: target.check,
      when: whenOf(target),
      nodes,
      rounds_a_minute: rounds,
    })),
    ...costOf(after),
    now: before === null ? null : costOf(before),
  };
}

function costOf({ checksAMinute, checksOfNodes, resultsAMonth, bytesAMonth, bytesAfterAYear, series }: PlanFigures) {
  return {
    checks_a_minute: checksAMinute,
    checks_a_minute_by_node: Object.fromEntries(checksOfNodes.map((one) => [one.node, one.checksAMinute])),
    results_a_month: Math.round(resultsAMonth),
    bytes_a_month: Math.round(bytesAMonth),
    bytes_after_a_year: Math.round(bytesAfterAYear),
    series,
  };
}
