import { percentile } from '../tools/table.ts';
import type { DayResult, SystemResult } from './result.ts';

/** `3 of 4, false 1 (30), again 2`: what a system did on a day, or a dash if it was not run. */
export function cellOf(result: SystemResult | undefined): string {
  if (result === undefined) return 'not run';
  const { due, came, repeated, falseMails, falseTargets } = result.verdict;
  const parts = [
    due === 0 ? (falseMails === 0 ? 'silent, right' : '') : came === due ? 'all' : `**${came} of ${due}**`,
    falseMails > 0 ? `**false ${falseMails}${falseTargets === falseMails ? '' : ` (${falseTargets})`}**` : '',
    repeated > 0 ? `again ${repeated}` : '',
  ];
  return parts.filter((part) => part !== '').join(', ');
}

/** `-8 s`: the error of the target whose downtime is farthest from the truth; less is a minus. */
export function historyCellOf(result: SystemResult | undefined): string {
  if (result === undefined) return 'not run';
  const { history } = result;
  if (history === null) return 'keeps none';
  if ('fault' in history) return 'no answer';
  const worst = history.reduce((most, error) => (Math.abs(error) > Math.abs(most) ? error : most), 0);
  return `${worst > 0 ? '+' : ''}${worst.toFixed(0)} s`.replace(/^[+-]0 s$/, '0 s');
}

/** A table in Markdown: a row for each day, a column for each system. */
export function dayTable(
  days: readonly { readonly name: string; readonly what: string }[],
  systems: readonly string[],
  done: readonly DayResult[],
  cell: (result: SystemResult | undefined) => string = cellOf,
): string {
  const rows = days.flatMap(({ name, what }) => {
    const day = done.find((one) => one.day === name);
    if (day === undefined) return [];
    return [[what, ...systems.map((system) => cell(day.results.find((one) => one.system === system)))]];
  });
  return markdown(['day', ...systems], rows);
}

/** A table in Markdown: a row for each system, with the sums of all days. */
export function sumTable(systems: readonly string[], done: readonly DayResult[]): string {
  const rows = systems.map((system) => {
    const own = done.flatMap(({ results }) => results.filter((one) => one.system === system));
    const sum = (figure: (one: SystemResult) => number) => own.reduce((total, one) => total + figure(one), 0);
    const late = own.flatMap(({ verdict }) => verdict.late).toSorted((one, other) => one - other);
    const unclear = (['target', 'reason', 'time'] as const)
      .map((what) => [what, sum((one) => one.unclear[what])] as const)
      .filter(([, count]) => count > 0)
      .map(([what, count]) => `${count} without ${what}`);
    const falseTargets = sum(({ verdict }) => verdict.falseTargets);
    return [
      system,
      String(own.length),
      String(sum(({ mails }) => mails)),
      `${sum(({ verdict }) => verdict.came)} of ${sum(({ verdict }) => verdict.due)}`,
      late.length === 0 ? '-' : `${percentile(late, 0.5).toFixed(0)} s`,
      late.length === 0 ? '-' : `${percentile(late, 0.99).toFixed(0)} s`,
      String(sum(({ verdict }) => verdict.repeated)),
      `${sum(({ verdict }) => verdict.falseMails)} (${falseTargets})`,
      unclear.length === 0 ? 'none' : `of ${sum((one) => one.unclear.beginnings)}: ${unclear.join(', ')}`,
      ...historySum(own),
    ];
  });
  return markdown(
    [
      'system',
      'days',
      'mails',
      'came of those due',
      'late p50',
      'late p99',
      'again',
      'false mails (targets)',
      'unclear',
      'uptime error p50',
      'worst',
    ],
    rows,
  );
}

/** How far downtimes are from the truth, of all targets that were down or are said to have been. */
function historySum(results: readonly SystemResult[]): readonly [string, string] {
  const errors = results
    .flatMap(({ history }) => (history === null || 'fault' in history ? [] : history))
    .map(Math.abs)
    .toSorted((one, other) => one - other);
  if (errors.length === 0) return ['-', '-'];
  return [`${percentile(errors, 0.5).toFixed(0)} s`, `${(errors.at(-1) ?? 0).toFixed(0)} s`];
}

function markdown(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  return [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}
