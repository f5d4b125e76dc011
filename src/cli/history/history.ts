import { openPast } from '#compose/history.ts';
import { loadConfig } from '#config/load.ts';
import { describeBudget } from '#history/budget.ts';
import type { BudgetFigures, HistoryFigures, HistoryReader, NodeFigures } from '#history/reader.ts';
import type { TimeSpan } from '#history/span.ts';
import { systemClock } from '#kernel/clock.ts';
import { WatchpostError } from '#kernel/errors.ts';
import { dayMs, describeDuration, hourMs } from '#kernel/units.ts';
import { formatSpan } from '#kernel/zoned-time.ts';
import { budgetJsonOf, csvLine, jsonOf, percent, seconds, sparkline } from '../shared/figures.ts';
import { jsonText } from '../shared/json.ts';
import { type StateColor, paintOf } from '../shared/paint.ts';
import { alignRows } from '../shared/table.ts';
import type { CommandContext } from '../shared/command-context.ts';

export interface HistoryOptions {
  readonly config: string;
  /** Milliseconds since the epoch; default: a day ago. */
  readonly since?: number;
  /** Default: now. */
  readonly until?: number;
  readonly by?: 'hour' | 'day' | 'week' | 'node';
  readonly node?: string;
  readonly json?: boolean;
  readonly csv?: boolean;
}

const steps = { hour: hourMs, day: dayMs, week: 7 * dayMs } as const;
const fewParts = 24;
const sparkParts = 60;

/** How a target was, in a table with a line for each step or node. */
export async function printHistory(target: string, options: HistoryOptions, context: CommandContext): Promise<number> {
  const config = await loadConfig({ path: options.config, env: context.env });
  using past = openPast(config, systemClock);
  const now = systemClock.now();
  const span = {
    from: options.since ?? now - dayMs,
    to: options.until ?? now,
  };
  if (span.from >= span.to)
    throw new WatchpostError('usage', 'the span ends before it begins: check --since and --until');
  const query = { ...span, of: { target }, node: options.node };
  const whole = await past.reader.figures(query);
  const { up, down, unknown } = whole.answers;
  if (up + down + unknown === 0 && !config.targets.some(({ name }) => name === target)) {
    throw new WatchpostError('usage', `there is no target ${target}, and there is no history of one`);
  }
  const parts = await partsOf(past.reader, query, options);
  const [{ budget } = { budget: null }] = options.node === undefined ? await past.reader.byTarget(query) : [];
  if (options.json === true) {
    context.print(
      jsonText({ target, ...jsonOf(whole), budget: budgetJsonOf(budget), parts: parts.map(([, one]) => jsonOf(one)) }),
    );
  } else if (options.csv === true) context.print(csvOf(parts));
  else {
    const { parts: small } = await past.reader.series({ ...query, points: sparkParts });
    context.print(tableOf(target, whole, budget, parts, sparkline(small), paintOf(context)));
  }
  return 0;
}

type FiguresPart = readonly [name: string, figures: HistoryFigures];

async function partsOf(
  reader: HistoryReader,
  query: TimeSpan & { readonly of: { readonly target: string }; readonly node: string | undefined },
  { by }: HistoryOptions,
): Promise<readonly FiguresPart[]> {
  if (by === 'node') {
    const { node: _, ...rest } = query;
    return (await reader.byNode(rest)).map((one: NodeFigures) => [one.node, one] as const);
  }
  const { parts } = await reader.series({
    ...query,
    points: fewParts,
    ...(by === undefined ? {} : { stepMs: steps[by] }),
  });
  return parts.map((one) => [formatSpan(one.from, one.to, 'UTC'), one] as const);
}

function tableOf(
  target: string,
  whole: HistoryFigures,
  budget: BudgetFigures | null,
  parts: readonly FiguresPart[],
  spark: string,
  paint: StateColor,
): string {
  const { uptime, time, latency, verdictsFrom } = whole;
  const down = time === null || time.down === 0 ? '' : `, down for ${describeDuration(time.down)}`;
  const out = time === null || time.excluded === 0 ? down : `${down}, ${describeDuration(time.excluded)} excluded`;
  const head = `${target}, ${formatSpan(whole.from, whole.to, 'UTC')}: ${percent(uptime)} up${out}; p95 ${seconds(latency?.p95)}${verdictsFrom === null ? '' : '; after an update, older rounds still wait for verdicts'}`;
  const columns = ['', 'up', 'down', 'answers', 'failed', 'unknown', 'p50', 'p95', 'p99', 'longest'];
  const lines = alignRows([columns, ...parts.map(([name, one]) => cellsOf(name, one, paint))]);
  const promised = budget === null ? '' : `\nerror budget: ${describeBudget(budget)}`;
  return `${head}${promised}\np95  ${spark}\n\n${lines.join('\n')}\n`;
}

// What went wrong stands out: nothing else has a colour.
function cellsOf(
  name: string,
  { uptime, time, answers, latency }: HistoryFigures,
  paint: StateColor,
): readonly string[] {
  const bad = (state: string, count: number) => (count === 0 ? '0' : paint(state, String(count)));
  return [
    name,
    percent(uptime),
    time === null ? '-' : time.down === 0 ? '0' : paint('down', describeDuration(time.down)),
    String(answers.up + answers.down),
    bad('down', answers.down),
    bad('unknown', answers.unknown),
    seconds(latency?.p50),
    seconds(latency?.p95),
    seconds(latency?.p99),
    seconds(latency?.max),
  ];
}

function csvOf(parts: readonly FiguresPart[]): string {
  const columns = ['part', 'from', 'to', 'uptime', 'down_seconds', 'unknown_seconds', 'maintenance_seconds'];
  const more = ['up', 'down', 'unknown', 'late', 'min', 'mean', 'p50', 'p95', 'p99', 'max', 'excluded_seconds'];
  const lines = parts.map(([name, { from, to, uptime, time, answers, latency }]) =>
    csvLine([
      name,
      new Date(from).toISOString(),
      new Date(to).toISOString(),
      uptime,
      ...[time?.down, time?.unknown, time?.maintenance].map((ms) => (ms === undefined ? null : ms / 1_000)),
      answers.up,
      answers.down,
      answers.unknown,
      answers.late,
      latency?.min,
      latency?.mean,
      latency?.p50,
      latency?.p95,
      latency?.p99,
      latency?.max,
      time === null ? null : time.excluded / 1_000,
    ]),
  );
  return csvLine([...columns, ...more]) + lines.join('');
}
