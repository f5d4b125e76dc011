import { html } from '@remix-run/html-template';
import { openPast } from '#compose/history.ts';
import { loadConfig } from '#config/load.ts';
import { describeLeft } from '#history/budget.ts';
import type { Exclusion } from '#history/exclusions.ts';
import type { HistoryReader, TargetFigures } from '#history/reader.ts';
import type { TimeSpan } from '#history/span.ts';
import { systemClock } from '#kernel/clock.ts';
import { WatchpostError } from '#kernel/errors.ts';
import { countOf } from '#kernel/text.ts';
import { describeDuration } from '#kernel/units.ts';
import { formatTime, monthAt, monthSpan } from '#kernel/zoned-time.ts';
import { budgetJsonOf, csvLine, jsonOf, percent, seconds } from '../shared/figures.ts';
import { jsonText } from '../shared/json.ts';
import { alignRows } from '../shared/table.ts';
import type { CommandContext } from '../shared/command-context.ts';

export interface ReportOptions {
  readonly config: string;
  /** As `2026-10`; default: the last one that is over, or this one if nothing was watched in that. */
  readonly month?: string;
  /** An IANA name: the zone in which months begin and end. */
  readonly timezone: string;
  readonly format: 'text' | 'csv' | 'html' | 'json';
}

/** How all targets were in a month, the worst first. */
export async function printReport(
  { config: path, month, timezone, format }: ReportOptions,
  context: CommandContext,
): Promise<number> {
  const config = await loadConfig({ path, env: context.env });
  const now = systemClock.now();
  using past = openPast(config, systemClock);
  const lookAt = async (name: string) => {
    const span = monthSpan(name, timezone);
    return { name, span, targets: await past.reader.byTarget(span) };
  };
  const current = monthAt(now, timezone);
  if (month !== undefined && monthSpan(month, timezone).from > now)
    throw new WatchpostError('usage', `--month ${month} has not begun yet in ${timezone}; this month is ${current}`);
  const last = await lookAt(month ?? monthAt(monthSpan(current, timezone).from - 1, timezone));
  // Who began this month sees what there is.
  const hasLast = month !== undefined || !isEmpty(last.targets);
  const { name, span, targets } = hasLast ? last : await lookAt(current);
  const rows = targets.toSorted((a, b) => (a.uptime ?? 2) - (b.uptime ?? 2));
  const counts = await countIncidents(past.reader, span);
  const exclusions = await past.reader.exclusions(span);
  const table = rows.map((one) => ({ ...one, incidents: counts.get(one.target) ?? 0 }));
  const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const title = timezone === 'UTC' ? name : `${name} (${timezone})`;
  const head = `${headOf(title, table, all)}${coarseNote(span, table)}`;
  if (format === 'csv') context.print(csvOf(name, table));
  else if (format === 'json') context.print(jsonText(jsonReportOf(name, timezone, table, exclusions)));
  else {
    const notes = exclusions.map((one) => exclusionNote(one, timezone));
    const text = alignRows([columns, ...table.map(cellsOf)]).join('\n');
    if (format === 'html') context.print(htmlOf(title, head, table, notes));
    else
      context.print(`${head}\n\n${text}\n${notes.map((note) => `\n${note}`).join('')}${notes.length > 0 ? '\n' : ''}`);
  }
  return 0;
}

const atOnce = 1_000;

/** How many incidents of each target were open for a part of a span. */
async function countIncidents(
  reader: Pick<HistoryReader, 'incidents'>,
  span: TimeSpan,
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  let after: string | undefined;
  do {
    const { incidents, next } = await reader.incidents({ ...span, limit: atOnce, after });
    for (const { target } of incidents) counts.set(target, (counts.get(target) ?? 0) + 1);
    after = next ?? undefined;
  } while (after !== undefined);
  return counts;
}

type ReportRow = TargetFigures & { readonly incidents: number };

const columns = ['target', 'up', 'down', 'incidents', 'answers', 'mean', 'p95', 'p99', 'budget left'];

function headOf(month: string, rows: readonly ReportRow[], all: number): string {
  const targets = countOf(rows.length, 'target');
  const incidents = rows.reduce((sum, row) => sum + row.incidents, 0);
  const others = all - incidents;
  const more =
    others === 0
      ? ''
      : `; ${others} more ${others === 1 ? 'incident was' : 'incidents were'} of targets that are not configured now or of Watchpost itself`;
  if (isEmpty(rows)) return `${month}: ${targets}, none watched in that month`;
  const time = rows.reduce((sum, one) => sum + (one.time?.down ?? 0), 0);
  const waiting = rows.filter(({ verdictsFrom }) => verdictsFrom !== null).length;
  const known = time === 0 ? 'never down' : `down for ${describeDuration(time)} in all`;
  const down = waiting > 0 && time === 0 ? 'downtime not known yet' : known;
  const note = waiting === 0 ? '' : `; after an update, older rounds of ${waiting} of them still wait for verdicts`;
  return `${month}: ${targets}, ${countOf(incidents, 'incident')}, ${down}${note}${more}`;
}

// An hour or a day of UTC that a month begins or ends in counts as a whole if nothing finer is retained.
function coarseNote({ from, to }: TimeSpan, rows: readonly ReportRow[]): string {
  const isCoarse = rows.some((row) => row.uptime !== null && (row.from < from || row.to > to));
  return isCoarse
    ? '; its first and last hours are counted by whole hours or days of UTC, as nothing finer is retained'
    : '';
}

function cellsOf({ target, uptime, time, incidents, answers, latency, budget }: ReportRow): readonly string[] {
  return [
    target,
    percent(uptime),
    time === null || time.down === 0 ? '0' : describeDuration(time.down),
    String(incidents),
    String(answers.up + answers.down),
    seconds(latency?.mean),
    seconds(latency?.p95),
    seconds(latency?.p99),
    budget === null ? '-' : describeLeft(budget.left),
  ];
}

function csvOf(month: string, rows: readonly ReportRow[]): string {
  const names = [
    'month',
    'target',
    'uptime',
    'down_seconds',
    'incidents',
    'up',
    'failed',
    'unknown',
    'mean',
    'p95',
    'p99',
    'objective',
    'budget_seconds',
    'budget_left',
    'excluded_seconds',
  ];
  const lines = rows.map(({ target, uptime, time, incidents, answers, latency, budget }) =>
    csvLine([
      month,
      target,
      uptime,
      time === null ? null : time.down / 1_000,
      incidents,
      answers.up,
      answers.down,
      answers.unknown,
      latency?.mean,
      latency?.p95,
      latency?.p99,
      budget?.ratio,
      budget === null ? null : budget.allowedMs / 1_000,
      budget?.left,
      time === null ? null : time.excluded / 1_000,
    ]),
  );
  return csvLine(names) + lines.join('');
}

/** `excluded from uptime: shop, 2026-11-23 10:00:00 UTC to 2026-11-23 11:00:00 UTC: provider`. */
function exclusionNote({ target, from, to, why }: Exclusion, zone: string): string {
  return `excluded from uptime: ${target ?? 'all targets'}, ${formatTime(from, zone)} to ${formatTime(to, zone)}: ${why}`;
}

function jsonReportOf(month: string, timezone: string, rows: readonly ReportRow[], exclusions: readonly Exclusion[]) {
  return {
    month,
    timezone,
    targets: rows.map((row) => ({
      target: row.target,
      ...jsonOf(row),
      incidents: row.incidents,
      budget: budgetJsonOf(row.budget),
    })),
    exclusions: exclusions.map(({ id, target, from, to, why }) => ({
      id,
      target,
      from: new Date(from).toISOString(),
      to: new Date(to).toISOString(),
      why,
    })),
  };
}

// A file that stands by itself: read on a phone, in the dark, and on paper.
function htmlOf(month: string, head: string, rows: readonly ReportRow[], notes: readonly string[]): string {
  const lines = rows.map((row) => {
    const [name, ...cells] = cellsOf(row);
    return html`<tr><th scope="row">${name}</th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>\n`;
  });
  return String(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Watchpost: ${month}</title>
<style>
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; font-variant-numeric: tabular-nums; background: light-dark(#fff, #101315); color: light-dark(#15191c, #e8ebed) }
body { max-width: 72rem; margin: 2rem auto; padding: 0 1.25rem }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 1.5rem }
div { overflow-x: auto }
table { border-collapse: collapse; width: 100% }
th, td { padding: 0.45rem 0.8rem; text-align: right; white-space: nowrap; border-bottom: 1px solid light-dark(#dfe3e6, #2b3136) }
thead th { font-weight: 500; color: light-dark(#56616b, #9ba6af) }
tbody th { font-weight: 550 }
:is(th, td):first-child { text-align: left; padding-left: 0 }
</style>
</head>
<body>
<h1>${head}</h1>
<div tabindex="0" role="region" aria-label="${month}"><table>
<thead><tr>${columns.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>
${lines}</tbody>
</table></div>
${notes.map((note) => html`<p>${note}</p>\n`)}</body>
</html>
`);
}

const isEmpty = (targets: readonly TargetFigures[]) => targets.every(({ uptime }) => uptime === null);
