import { openPast } from '#compose/history.ts';
import { loadConfig } from '#config/load.ts';
import { describeLeft } from '#history/budget.ts';
import type { HistoryReader, TargetNow } from '#history/reader.ts';
import { systemClock } from '#kernel/clock.ts';
import { dayMs, describeDuration, hourMs } from '#kernel/units.ts';
import { budgetJsonOf, jsonOf, percent, seconds, sparkline, formatUpCount } from '../shared/figures.ts';
import { jsonText } from '../shared/json.ts';
import { type StateColor, paintOf } from '../shared/paint.ts';
import { alignRows } from '../shared/table.ts';
import type { CommandContext } from '../shared/command-context.ts';

export interface StatusOptions {
  readonly config: string;
  readonly json?: boolean;
}

/** Every target as it is now. Exit code 1 if one is down. */
export async function printStatus({ config: path, json }: StatusOptions, context: CommandContext): Promise<number> {
  const config = await loadConfig({ path, env: context.env });
  using past = openPast(config, systemClock);
  const targets = await past.reader.now();
  const rows = [];
  const paint = paintOf(context);
  for (const target of targets) rows.push(await rowOf(target, past.reader, paint));
  if (json === true) context.print(jsonText(rows.map(({ shown }) => shown)));
  else context.print(tableOf(targets, rows, paint));
  return targets.some(({ status }) => status === 'down') ? 1 : 0;
}

async function rowOf(target: TargetNow, reader: HistoryReader, paint: StateColor) {
  const now = systemClock.now();
  const of = { target: target.name };
  const day = { from: now - dayMs, to: now, of };
  const [today] = await reader.byTarget(day);
  const [month] = await reader.byTarget({ from: now - 30 * dayMs, to: now, of });
  const { parts } = await reader.series({ ...day, stepMs: hourMs });
  const since = target.since === null ? '-' : describeDuration(Math.max(now - target.since, 0));
  const state = target.inMaintenance ? 'maintenance' : target.status;
  const budget = month?.budget ?? null;
  const cells = [
    target.name,
    paint(state),
    since,
    percent(today?.uptime ?? null),
    percent(month?.uptime ?? null),
    budget === null ? '-' : describeLeft(budget.left),
    seconds(today?.latency?.p95),
    sparkline(parts),
  ];
  const shown = {
    target: target.name,
    status: target.status,
    maintenance: target.inMaintenance,
    since: target.since === null ? null : new Date(target.since).toISOString(),
    day: today === undefined ? null : jsonOf(today),
    month: month === undefined ? null : jsonOf(month),
    budget: budgetJsonOf(budget),
    incidents: target.incidents.map(({ id }) => id),
  };
  return { cells, shown };
}

function tableOf(
  targets: readonly TargetNow[],
  rows: readonly { readonly cells: readonly string[] }[],
  paint: StateColor,
): string {
  const up = targets.filter(({ status }) => status === 'up').length;
  const bad = targets.filter(({ status }) => status === 'down' || status === 'partial');
  const head = formatUpCount(up, targets.length);
  const names = bad.map(({ name, status }) => `${name} is ${paint(status)}`).join(', ');
  const columns = ['target', 'state', 'for', 'up 24h', 'up 30d', 'budget', 'p95 24h', 'by the hour'];
  const lines = alignRows([columns, ...rows.map(({ cells }) => cells)]);
  return `${head}${names === '' ? '' : `; ${names}`}\n\n${lines.join('\n')}\n`;
}
