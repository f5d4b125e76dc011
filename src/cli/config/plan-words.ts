import type { Outline } from '#config/apply/outline.ts';
import { countOf } from '#kernel/text.ts';
import type { Changes, Difference } from './plan-changes.ts';
import { checksOf, type PlanFigures, whenOf } from './plan-figures.ts';
import { alignRows } from '../shared/table.ts';

/** What a configuration would change if it is put into force, and what it costs. */
export interface Plan {
  /** What it is compared with: what runs at an address, what a database knows, or nothing. */
  readonly beside: { readonly kind: 'daemon' | 'database'; readonly where: string } | null;
  readonly outline: Outline;
  readonly changes: Changes;
  /** What runs costs, if that is known. */
  readonly before: PlanFigures | null;
  readonly after: PlanFigures;
}

/** A plan for people: what differs, and with `all` what stays too. */
export function wordsOf(plan: Plan, all: boolean): string {
  const { beside, changes, after } = plan;
  const isAll = all || beside === null;
  const parts = [
    headOf(plan),
    changesOf(changes, after, beside !== null),
    isAll ? tableOf(after) : [],
    costOf(plan, isAll),
  ];
  return `${parts
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

/** `12 targets on 3 nodes`. */
export function summaryOf({ targets, nodes, service }: PlanSummary): string {
  const where = service === null ? countOf(nodes.length, 'node') : `the nodes of ${service.url}`;
  return `${countOf(targets.length, 'target')} on ${where}`;
}

interface PlanSummary {
  readonly targets: readonly unknown[];
  readonly nodes: readonly unknown[];
  readonly service: { readonly url: string } | null;
}

function headOf({ outline, beside, changes }: Plan): readonly string[] {
  const what = summaryOf(outline);
  if (beside === null) return [what, 'No daemon is running to compare with.'];
  if (beside.kind === 'database')
    return [what, `No daemon answers: beside what ${beside.where} knows, which is names and open incidents.`];
  return [
    what,
    isSame(changes) ? `Nothing changes: this is what runs at ${beside.where}.` : `Beside what runs at ${beside.where}:`,
  ];
}

function isSame({ added, removed, changed, settings, secrets }: Changes): boolean {
  return added.length + removed.length + changed.length + settings.length === 0 && !secrets;
}

const mostNames = 10;

function changesOf(changes: Changes, figures: PlanFigures, isCompared: boolean): readonly string[] {
  if (!isCompared) return [];
  const planned = new Map(figures.planned.map((one) => [one.target.name, one.target]));
  const about = (name: string) => {
    const target = planned.get(name);
    return target === undefined ? '' : `${target.check} ${target.says['host'] ?? ''}, ${whenOf(target)}`;
  };
  const rows = [
    ...cut(changes.added.map((name) => ['added', name, about(name)])),
    ...cut(changes.removed.map((name) => ['removed', name, ''])),
    ...changedRows(changes.changed),
    ...changes.settings.map((one) => ['setting', one.path, arrowOf(one)]),
    ...(changes.secrets ? [['setting', 'secrets', 'one or more differ']] : []),
    ...changes.needsRestart.map((name) => ['restart', name, 'takes effect after a restart only']),
    ...changes.news.map(({ incident, news, to }) => ['notify', incident, `${news}: ${toWhom(to)}`]),
  ];
  return alignRows(rows);
}

// Many targets that change in the same way are one line for each way.
function changedRows(changed: Changes['changed']): readonly (readonly string[])[] {
  const ways = Map.groupBy(changed, ({ differences }) => JSON.stringify(differences));
  return [...ways.values()].flatMap((targets) => {
    const names = targets.map(({ target }) => target);
    const shown = names.length > 3 ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} more` : names.join(', ');
    const differences = targets[0]?.differences ?? [];
    return differences.map((one, index) => [
      index === 0 ? 'changed' : '',
      index === 0 ? shown : '',
      `${one.path}: ${arrowOf(one)}`,
    ]);
  });
}

function cut(rows: readonly (readonly string[])[]): readonly (readonly string[])[] {
  if (rows.length <= mostNames) return rows;
  const [kind = ''] = rows[0] ?? [];
  return [...rows.slice(0, mostNames), [kind, `and ${rows.length - mostNames} more`, '']];
}

const arrowOf = ({ from, to }: Difference) => `${from ?? 'not set'} → ${to ?? 'not set'}`;

const toWhom = (to: readonly { readonly channel: string; readonly recipient: string }[]) =>
  to.length === 0 ? 'no recipients' : to.map(({ channel, recipient }) => `${channel} ${recipient}`).join(', ');

function tableOf({ planned }: PlanFigures): readonly string[] {
  return alignRows([
    ['target', 'check', 'when', 'nodes', 'checks a minute'],
    ...planned.map((one) => [
      one.target.name,
      one.target.check,
      whenOf(one.target),
      one.nodeCount === null ? 'all' : String(one.nodeCount),
      one.nodeCount === null ? `${figure(one.rounds)} a node` : figure(checksOf(one)),
    ]),
  ]);
}

function costOf({ before, after }: Plan, isAll: boolean): readonly string[] {
  const fresh = new Map(costs(after));
  if (before === null) return alignRows([...fresh]);
  const old = new Map(costs(before));
  const names = [...new Set([...old.keys(), ...fresh.keys()])];
  const rows = names.map((name) => [name, old.get(name) ?? '-', fresh.get(name) ?? '-'] as const);
  const shown = isAll ? rows : rows.filter(([, one, other]) => one !== other);
  return shown.length === 0 ? [] : alignRows([['', 'now', 'then'], ...shown]);
}

function costs(figures: PlanFigures): readonly (readonly [string, string])[] {
  const { checksAMinute, checksOfNodes, starts, resultsAMonth, bytesAMonth, bytesAfterAYear, series, isWhole } =
    figures;
  const atLeast = isWhole ? '' : 'at least ';
  return [
    ['checks a minute', `${atLeast}${figure(checksAMinute)}`],
    ...checksOfNodes.map((one) => [`  on ${one.node}`, figure(one.checksAMinute)] as const),
    ...(starts === null ? [] : [['starts a minute', startsInWords(starts)] as const]),
    ['results a month', `${atLeast}${countInWords(Number(resultsAMonth.toPrecision(3)))}`],
    ['disk a month', `${atLeast}${sizeInWords(bytesAMonth)}`],
    ['disk after a year', `${atLeast}${sizeInWords(bytesAfterAYear)}`],
    ['Prometheus series', `about ${countInWords(series)}${isWhole ? '' : ' or more'}`],
  ];
}

function startsInWords({ aMinute, allowed }: NonNullable<PlanFigures['starts']>): string {
  const over = aMinute > allowed ? ': too many, some rounds will be unknown' : '';
  return `${figure(aMinute)} of the ${figure(allowed)} in service.budget${over}`;
}

const figure = (number: number) => String(Number(number.toPrecision(3)));

const countInWords = (count: number) => Math.round(count).toLocaleString('en');

function sizeInWords(bytes: number): string {
  if (bytes >= 1e9) return `${(bytes / 1e9).toFixed(1)} GB`;
  return bytes >= 1e6 ? `${(bytes / 1e6).toFixed(1)} MB` : `${Math.ceil(bytes / 1e3)} kB`;
}
