import { figure, printTable } from '../tools/table.ts';
import type { Result, Subject } from './result.ts';
import type { Kind } from './targets.ts';

const megabytes = (bytes: number | null) => (bytes === null ? '' : (bytes / 1e6).toFixed(0));
const rounded = (value: number | undefined | null) => (value === undefined || value === null ? '' : figure(value));

/** All figures, a row for each program and number of targets. */
export function printResults(results: readonly Result[]): void {
  printTable(
    [
      'check',
      'targets',
      'program',
      'checks',
      'CPU us',
      'late p50 ms',
      'p99 ms',
      'max ms',
      'MB',
      'live MB',
      'B written',
    ],
    results.map((one) => [
      one.kind,
      String(one.targets),
      one.subject,
      one.checks.toFixed(0),
      figure(one.cpuUs),
      rounded(one.late?.p50),
      rounded(one.late?.p99),
      rounded(one.late?.max),
      megabytes(one.memory),
      megabytes(one.liveHeap),
      rounded(one.written),
    ]),
  );
}

interface Aim {
  readonly what: string;
  readonly aim: number;
  readonly got: (find: Find) => number | null;
}

type Find = (subject: Subject) => Result | undefined;

/** CPU for each check as a share of that of others together. */
const shareOf =
  (...others: readonly Subject[]) =>
  (find: Find): number | null => {
    const ours = find('watchpost')?.cpuUs;
    const theirs = others.map((other) => find(other)?.cpuUs);
    if (ours === undefined || theirs.some((one) => one === undefined)) return null;
    return ours / theirs.reduce<number>((sum, one) => sum + (one ?? 0), 0);
  };
const pair = shareOf('blackbox_exporter', 'Prometheus');
const latenessP99 = (find: Find) => find('watchpost')?.late?.p99 ?? null;
const memory = (find: Find) => {
  const bytes = find('watchpost')?.memory ?? null;
  return bytes === null ? null : bytes / 1e6;
};

const aims: Readonly<Record<Kind, Readonly<Record<number, readonly Aim[]>>>> = {
  http: {
    1: [{ what: 'memory, MB', aim: 100, got: memory }],
    100: [
      { what: 'CPU, share of blackbox_exporter + Prometheus', aim: 0.35, got: pair },
      { what: 'memory, MB', aim: 120, got: memory },
    ],
    1000: [
      { what: 'CPU, share of blackbox_exporter + Prometheus', aim: 0.2, got: pair },
      { what: 'start against due p99, ms', aim: 2, got: latenessP99 },
      { what: 'memory, MB', aim: 150, got: memory },
    ],
    10000: [
      { what: 'CPU, share of blackbox_exporter + Prometheus', aim: 0.15, got: pair },
      { what: 'start against due p99, ms', aim: 3, got: latenessP99 },
      { what: 'memory, MB', aim: 300, got: memory },
    ],
  },
  tcp: { 1000: [{ what: 'CPU, share of blackbox_exporter + Prometheus', aim: 0.2, got: pair }] },
  ping: { 1000: [{ what: 'CPU, share of fping', aim: 1.5, got: shareOf('fping') }] },
};

/** Each aim beside what came of it. */
export function printAims(results: readonly Result[]): void {
  const rows = Object.entries(aims).flatMap(([kind, sizes]) =>
    Object.entries(sizes).flatMap(([size, list]) => {
      const here = results.filter((one) => one.kind === kind && one.targets === Number(size));
      const find: Find = (subject) => here.find((one) => one.subject === subject);
      return list.flatMap(({ what, aim, got }) => {
        const value = got(find);
        if (value === null) return [];
        return [
          [
            `${size} ${kind}: ${what}`,
            figure(aim),
            figure(value),
            figure(value / aim),
            value <= aim ? 'met' : 'not met',
          ],
        ];
      });
    }),
  );
  if (rows.length > 0) printTable(['aim', 'at most', 'got', 'is x the aim', ''], rows);
}

/** What one target more costs in living objects, between the smallest and the largest number measured. */
export function printLiveHeap(results: readonly Result[]): void {
  for (const [kind, all] of Map.groupBy(
    results.filter(({ liveHeap }) => liveHeap !== null),
    (one) => one.kind,
  )) {
    const sorted = all.toSorted((one, other) => one.targets - other.targets);
    const [least, most] = [sorted[0], sorted.at(-1)];
    if (least === undefined || most === undefined || least.targets === most.targets) continue;
    const each = ((most.liveHeap ?? 0) - (least.liveHeap ?? 0)) / (most.targets - least.targets);
    console.log(
      `${kind}: ${figure(each / 1e3)} kB of living objects for each target (${least.targets} to ${most.targets})`,
    );
  }
}
