import { checkOf, type NodeInfo } from '#checks/index.ts';
import type { Outline, OutlinedTarget } from '#config/apply/outline.ts';
import { weightAfter } from '#history/weight.ts';
import { dayMs, formatDuration } from '#kernel/units.ts';
import { createNextDue } from '#schedule/schedule.ts';
import type { NodeStatus } from '#service/ports.ts';
import { selectNodes } from '#service/select.ts';

// docs/storage.md and docs/metrics.md say where these come from.
const minutesOfMonth = 60 * 24 * 30;
const seriesOfPair = 16;
const reasonsOfPair = 2;
// Only a target that is checked over both families has these.
const ofFamilies: ReadonlySet<string> = new Set(['ipv4_seconds', 'ipv6_seconds', 'ip_protocol']);
const seriesOfTarget = 8;
const seriesOfRule = 2;
const seriesOfNode = 7;
const seriesOfProgram = 100;

export interface PlannedTarget {
  readonly target: OutlinedTarget;
  /** Rounds a minute. */
  readonly rounds: number;
  /** Names of its nodes; null if only the service at `service.url` knows them. */
  readonly nodes: readonly string[] | null;
  readonly nodeCount: number | null;
}

/** The cost of a configuration. Sums have no figures that only the service at `service.url` knows. */
export interface PlanFigures {
  readonly planned: readonly PlannedTarget[];
  readonly checksAMinute: number;
  readonly checksOfNodes: readonly { readonly node: string; readonly checksAMinute: number }[];
  /** Where another service runs the checks. */
  readonly starts: { readonly aMinute: number; readonly allowed: number } | null;
  readonly resultsAMonth: number;
  readonly bytesAMonth: number;
  /** What the database has after a year, as long as history is kept. */
  readonly bytesAfterAYear: number;
  readonly series: number;
  /** Whether the sums hold everything. */
  readonly isWhole: boolean;
}

/** `now` is where cron patterns are counted from. */
export function figuresOf(outline: Outline, now: number): PlanFigures {
  const planned = outline.targets.map((target) => plan(target, outline, now));
  const checksAMinute = sum(planned.map(checksOf));
  const { service } = outline;
  const traffic = planned.map(({ rounds, nodeCount }) => ({ pairs: nodeCount ?? 1, resultsADay: rounds * 1_440 }));
  return {
    planned,
    checksAMinute,
    checksOfNodes: service === null ? loadOfNodes(outline, planned) : [],
    starts:
      service === null
        ? null
        : {
            aMinute: sum(planned.map(({ rounds, nodes }) => (nodes?.length === 0 ? 0 : rounds))),
            allowed: (service.count * 60_000) / service.perMs,
          },
    resultsAMonth: checksAMinute * minutesOfMonth,
    bytesAMonth: weightAfter(30 * dayMs, traffic, outline.kept),
    bytesAfterAYear: weightAfter(365 * dayMs, traffic, outline.kept),
    series: seriesOf(outline, planned),
    isWhole: planned.every(({ nodeCount }) => nodeCount !== null),
  };
}

export const checksOf = ({ rounds, nodeCount }: PlannedTarget) => rounds * (nodeCount ?? 1);

/** `every 30s`, `0 3 * * * UTC`. */
export function whenOf({ schedule }: OutlinedTarget): string {
  if (schedule.kind === 'every') return `every ${formatDuration(schedule.everyMs)}`;
  return `${schedule.pattern} ${schedule.timezone}`;
}

function plan(target: OutlinedTarget, { nodes, service }: Outline, now: number): PlannedTarget {
  const rounds = roundsAMinute(target, now);
  const { nodes: selection } = target;
  // It calls; each call is a result.
  if (checkOf(target.check).heard !== null) return { target, rounds, nodes: [], nodeCount: 1 };
  if (service !== null) {
    if (selection.kind === 'named') {
      return { target, rounds, nodes: selection.names, nodeCount: selection.names.length };
    }
    return { target, rounds, nodes: null, nodeCount: selection.kind === 'count' ? selection.count : null };
  }
  const selected = selectNodes(nodes.map(statusOf), selection, target.name).map(({ info }) => info.name);
  return { target, rounds, nodes: selected, nodeCount: selected.length };
}

const mostTicks = 500;
const spanMs = 31 * dayMs;

function roundsAMinute({ schedule, name }: OutlinedTarget, now: number): number {
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

function loadOfNodes({ nodes }: Outline, planned: readonly PlannedTarget[]): PlanFigures['checksOfNodes'] {
  const loads = new Map(nodes.map((node) => [node, 0]));
  for (const { nodes: own, rounds } of planned)
    for (const node of own ?? []) loads.set(node, (loads.get(node) ?? 0) + rounds);
  return [...loads].map(([node, checksAMinute]) => ({ node, checksAMinute }));
}

function seriesOf({ nodes }: Outline, planned: readonly PlannedTarget[]): number {
  const ofTargets = planned.map(({ target, nodeCount }) => {
    const { phases, facts } = checkOf(target.check);
    const usual = facts.filter((fact) => !ofFamilies.has(fact));
    const pair = seriesOfPair + reasonsOfPair + phases.length + usual.length;
    return pair * (nodeCount ?? 1) + seriesOfTarget + seriesOfRule * target.rules.length;
  });
  return sum(ofTargets) + seriesOfNode * nodes.length + seriesOfProgram;
}

function statusOf(name: string): NodeStatus {
  const info: NodeInfo = { name, countryCode: '', country: '', city: '', asn: '', ip: '' };
  return { info, online: true, reason: null, capabilities: {}, running: 0, queued: 0, lagSeconds: 0 };
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
