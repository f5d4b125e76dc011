import { checkOf, type NodeInfo } from '#checks/index.ts';
import type { Config } from '#config/config.ts';
import { loadConfig } from '#config/load.ts';
import { systemClock } from '#kernel/clock.ts';
import { formatDuration } from '#kernel/units.ts';
import { createNextDue } from '#schedule/schedule.ts';
import type { NodeStatus } from '#service/ports.ts';
import { selectNodes } from '#service/select.ts';
import { alignRows } from './table.ts';
import type { World } from './world.ts';

type Target = Config['targets'][number];

/** What a configuration will cost, without running it. */
export async function planConfig(
  options: { readonly config: string; readonly json?: boolean },
  world: World,
): Promise<number> {
  const config = await loadConfig({ path: options.config, env: world.env });
  const now = systemClock.now();
  world.print(
    options.json === true
      ? `${JSON.stringify(figuresOf(config, now), null, 2)}\n`
      : `${planOf(config, now).join('\n')}\n`,
  );
  return 0;
}

interface Planned {
  readonly target: Target;
  /** Rounds a minute. */
  readonly rounds: number;
  /** Names of its nodes; null where only the service at `service.url` knows them. */
  readonly nodes: readonly string[] | null;
  readonly nodeCount: number | null;
}

// docs/storage.md and docs/metrics.md say where these come from.
const bytesOfResult = 4;
const minutesOfMonth = 60 * 24 * 30;
const seriesOfPair = 15;
const reasonsOfPair = 2;
const seriesOfTarget = 8;
const seriesOfRule = 2;
const seriesOfNode = 3;
const seriesOfProgram = 100;

/** The plan as lines of text; `now` is where cron patterns are counted from. */
function planOf(config: Config, now: number): readonly string[] {
  const planned = config.targets.map((target) => plan(target, config, now));
  const known = planned.every(({ nodeCount }) => nodeCount !== null);
  const checks = sum(planned.map(checksOf));
  const atLeast = known ? '' : 'at least ';
  const bytes = checks * minutesOfMonth * bytesOfResult;
  return [
    summaryOf(config),
    '',
    ...alignRows([
      ['target', 'check', 'when', 'nodes', 'checks a minute'],
      ...planned.map((one) => [
        one.target.name,
        one.target.spec.type,
        whenOf(one.target),
        one.nodeCount === null ? 'all' : String(one.nodeCount),
        one.nodeCount === null ? `${figure(one.rounds)} a node` : figure(checksOf(one)),
      ]),
    ]),
    '',
    ...alignRows([
      ['checks a minute', `${atLeast}${figure(checks)}`],
      ...loadOfNodes(config, planned),
      ...budgetOf(config, planned),
      ['results a month', `${atLeast}${countInWords(Number((checks * minutesOfMonth).toPrecision(3)))}`],
      ['disk a month', `${atLeast}${sizeInWords(bytes)}`],
      ['Prometheus series', `about ${countInWords(seriesOf(config, planned))}${known ? '' : ' or more'}`],
    ]),
  ];
}

/** The plan for programs. What only the service at `service.url` knows is null, and left out of the sums. */
function figuresOf(config: Config, now: number) {
  const planned = config.targets.map((target) => plan(target, config, now));
  const checks = sum(planned.map(checksOf));
  return {
    targets: planned.map((one) => ({
      target: one.target.name,
      check: one.target.spec.type,
      when: whenOf(one.target),
      nodes: one.nodes,
      rounds_a_minute: one.rounds,
    })),
    checks_a_minute: checks,
    results_a_month: Math.round(checks * minutesOfMonth),
    bytes_a_month: Math.round(checks * minutesOfMonth * bytesOfResult),
    series: seriesOf(config, planned),
  };
}

/** `12 targets on 3 nodes`. */
export function summaryOf({ targets, nodes, foreignService }: Config): string {
  const where = foreignService === null ? countOf(nodes.length, 'node') : `the nodes of ${foreignService.url}`;
  return `${countOf(targets.length, 'target')} on ${where}`;
}

function plan(target: Target, { nodes, foreignService }: Config, now: number): Planned {
  const rounds = roundsAMinute(target, now);
  const { nodes: selection } = target;
  if (foreignService !== null) {
    if (selection.kind === 'named') {
      return { target, rounds, nodes: selection.names, nodeCount: selection.names.length };
    }
    return { target, rounds, nodes: null, nodeCount: selection.kind === 'count' ? selection.count : null };
  }
  const selected = selectNodes(
    nodes.map(({ info }) => statusOf(info)),
    selection,
  ).map(({ info }) => info.name);
  return { target, rounds, nodes: selected, nodeCount: selected.length };
}

const mostTicks = 500;
const spanMs = 31 * 86_400_000;

function roundsAMinute({ schedule, name }: Target, now: number): number {
  if (schedule.kind === 'every') return 60_000 / schedule.everyMs;
  const next = createNextDue(schedule, name);
  const dues: number[] = [];
  for (let due = next(now); due !== null && due <= now + spanMs && dues.length < mostTicks; due = next(due)) {
    dues.push(due);
  }
  const [first = now] = dues;
  const last = dues.at(-1) ?? now;
  return dues.length < mostTicks ? (dues.length * 60_000) / spanMs : ((dues.length - 1) * 60_000) / (last - first);
}

function loadOfNodes({ nodes, foreignService }: Config, planned: readonly Planned[]): readonly (readonly string[])[] {
  if (foreignService !== null) return [];
  return nodes.map(({ info }) => {
    const own = planned.filter((one) => one.nodes?.includes(info.name));
    return [`  on ${info.name}`, figure(sum(own.map(({ rounds }) => rounds)))];
  });
}

function budgetOf({ foreignService }: Config, planned: readonly Planned[]): readonly (readonly string[])[] {
  if (foreignService === null) return [];
  const starts = sum(planned.map(({ rounds }) => rounds));
  const { count, perMs } = foreignService.budget;
  const allowed = (count * 60_000) / perMs;
  const over = starts > allowed ? ': too many, some rounds will be unknown' : '';
  return [['starts a minute', `${figure(starts)} of the ${figure(allowed)} in service.budget${over}`]];
}

function seriesOf(config: Config, planned: readonly Planned[]): number {
  const ofTargets = planned.map(({ target, nodeCount }) => {
    const { phases, facts } = checkOf(target.spec.type);
    const pair = seriesOfPair + reasonsOfPair + phases.length + facts.length;
    return pair * (nodeCount ?? 1) + seriesOfTarget + seriesOfRule * target.rules.length;
  });
  return sum(ofTargets) + seriesOfNode * config.nodes.length + seriesOfProgram;
}

function statusOf(info: NodeInfo): NodeStatus {
  return { info, online: true, reason: null, capabilities: {}, running: 0, queued: 0, lagSeconds: 0 };
}

function whenOf({ schedule }: Target): string {
  if (schedule.kind === 'every') return `every ${formatDuration(schedule.everyMs)}`;
  return `${schedule.pattern} ${schedule.timezone}`;
}

const checksOf = ({ rounds, nodeCount }: Planned) => rounds * (nodeCount ?? 1);

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

const figure = (number: number) => String(Number(number.toPrecision(3)));

const countOf = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;

const countInWords = (count: number) => Math.round(count).toLocaleString('en');

function sizeInWords(bytes: number): string {
  if (bytes >= 1e9) return `${(bytes / 1e9).toFixed(1)} GB`;
  return bytes >= 1e6 ? `${(bytes / 1e6).toFixed(1)} MB` : `${Math.ceil(bytes / 1e3)} kB`;
}
